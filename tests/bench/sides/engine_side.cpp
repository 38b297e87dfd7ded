// The engine interface is deprecated since OpenSSL 3.0 and gone in 4.0.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/engine.h>
#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

#include "sides.hpp"

namespace kaccel::bench {

#ifdef OPENSSL_NO_ENGINE

std::unique_ptr<Side> make_engine_side() {
  throw std::runtime_error("this OpenSSL has no engines");
}

#else

namespace {

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  void operator()(ENGINE* engine) const { ENGINE_free(engine); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, Free>;

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

void update(EVP_CIPHER_CTX* context, const Message& message) {
  int written = 0;
  require(EVP_CipherUpdate(context, message.output.data(), &written, message.input.data(),
                           static_cast<int>(message.input.size())) == 1,
          "update failed");
}

class EngineSide final : public Side {
 public:
  EngineSide() : engine_(ENGINE_by_id("afalg")) {
    require(engine_ != nullptr,
            "the engine does not load (is afalg.so in OpenSSL's ENGINESDIR, and AF_ALG in the "
            "kernel?)");
  }

  std::string name() const override { return "afalg-engine"; }

  Operation make_operation(const Message& message, Manner manner) override {
    // The default library context's cipher: an engine puts its own in its place.
    const EVP_CIPHER* const cipher = EVP_get_cipherbyname(message.algorithm.name);
    if (cipher == nullptr ||
        ENGINE_get_cipher(engine_.get(), EVP_CIPHER_get_nid(cipher)) == nullptr)
      return {};
    if (manner == Manner::new_context) {
      return [this, cipher, message] { update(keyed(cipher, message).get(), message); };
    }
    const std::shared_ptr<EVP_CIPHER_CTX> context = keyed(cipher, message);
    return [context, message] {
      require(
          EVP_CipherInit_ex(context.get(), nullptr, nullptr, nullptr, message.iv.data(), -1) == 1,
          "the IV cannot be set");
      update(context.get(), message);
    };
  }

 private:
  Context keyed(const EVP_CIPHER* cipher, const Message& message) const {
    Context context(EVP_CIPHER_CTX_new());
    require(context != nullptr &&
                EVP_CipherInit_ex(context.get(), cipher, engine_.get(), message.key.data(),
                                  message.iv.data(), message.encrypts() ? 1 : 0) == 1 &&
                EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1,
            "the cipher cannot be set up");
    return context;
  }

  std::unique_ptr<ENGINE, Free> engine_;
};

}  // namespace

std::unique_ptr<Side> make_engine_side() {
  return std::make_unique<EngineSide>();
}

#endif

}  // namespace kaccel::bench
