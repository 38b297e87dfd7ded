#include <openssl/conf.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "sides.hpp"

namespace kaccel::bench {
namespace {

struct Free {
  void operator()(OSSL_LIB_CTX* context) const { OSSL_LIB_CTX_free(context); }
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Free>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, Free>;

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

CipherContext keyed(const EVP_CIPHER* cipher, const Message& message) {
  CipherContext context(EVP_CIPHER_CTX_new());
  require(context != nullptr &&
              EVP_CipherInit_ex2(context.get(), cipher, message.key.data(), message.iv.data(),
                                 message.encrypts() ? 1 : 0, nullptr) == 1 &&
              EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1,
          "the cipher cannot be set up");
  return context;
}

void update(EVP_CIPHER_CTX* context, const Message& message) {
  int written = 0;
  require(EVP_CipherUpdate(context, message.output.data(), &written, message.input.data(),
                           static_cast<int>(message.input.size())) == 1,
          "update failed");
}

void finish_gcm(EVP_CIPHER_CTX* context, const Message& message) {
  static constexpr std::array<std::uint8_t, gcm_aad_size> aad{};
  const auto tag_call = [&](int command) {
    return EVP_CIPHER_CTX_ctrl(context, command, gcm_tag_size, message.tag.data()) == 1;
  };
  int written = 0;
  require((message.encrypts() || tag_call(EVP_CTRL_AEAD_SET_TAG)) &&
              EVP_CipherUpdate(context, nullptr, &written, aad.data(), aad.size()) == 1,
          "the AAD failed");
  update(context, message);
  std::array<std::uint8_t, 16> rest{};
  require(EVP_CipherFinal_ex(context, rest.data(), &written) == 1 &&
              (!message.encrypts() || tag_call(EVP_CTRL_AEAD_GET_TAG)),
          "the tag failed");
}

void finish(EVP_CIPHER_CTX* context, const Message& message) {
  if (message.algorithm.kind == Kind::gcm) {
    finish_gcm(context, message);
  } else {
    update(context, message);
  }
}

Operation cipher_operation(std::shared_ptr<EVP_CIPHER> cipher, const Message& message,
                           Manner manner) {
  if (manner == Manner::new_context) {
    return [cipher, message] { finish(keyed(cipher.get(), message).get(), message); };
  }
  const std::shared_ptr<EVP_CIPHER_CTX> context = keyed(cipher.get(), message);
  return [context, message] {
    require(
        EVP_CipherInit_ex2(context.get(), nullptr, nullptr, message.iv.data(), -1, nullptr) == 1,
        "the IV cannot be set");
    finish(context.get(), message);
  };
}

void mac_data(EVP_MAC_CTX* context, const Message& message) {
  std::size_t written = 0;
  require(EVP_MAC_update(context, message.input.data(), message.input.size()) == 1 &&
              EVP_MAC_final(context, message.output.data(), &written, message.output.size()) == 1,
          "the MAC failed");
}

MacContext keyed(EVP_MAC* mac, const Message& message) {
  std::string digest(digest_name(message.algorithm));
  const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                          OSSL_PARAM_construct_end()};
  MacContext context(EVP_MAC_CTX_new(mac));
  require(context != nullptr && EVP_MAC_init(context.get(), message.key.data(), message.key.size(),
                                             params.data()) == 1,
          "the MAC cannot be set up");
  return context;
}

Operation mac_operation(std::shared_ptr<EVP_MAC> mac, const Message& message, Manner manner) {
  if (manner == Manner::new_context) {
    return [mac, message] { mac_data(keyed(mac.get(), message).get(), message); };
  }
  const std::shared_ptr<EVP_MAC_CTX> context = keyed(mac.get(), message);
  return [context, message] {
    require(EVP_MAC_init(context.get(), nullptr, 0, nullptr) == 1,
            "the MAC cannot be started anew");
    mac_data(context.get(), message);
  };
}

// What is fetched is fetched once, as OpenSSL advises.
class EvpSide final : public Side {
 public:
  EvpSide(std::string name, const std::string& configuration)
      : name_(std::move(name)), library_(OSSL_LIB_CTX_new()) {
    require(OSSL_LIB_CTX_load_config(library_.get(), configuration.c_str()) == 1,
            (configuration + " cannot be loaded").c_str());
  }

  std::string name() const override { return name_; }

  Operation make_operation(const Message& message, Manner manner) override {
    if (is_mac(message.algorithm)) {
      std::shared_ptr<EVP_MAC> mac(EVP_MAC_fetch(library_.get(), "HMAC", nullptr), Free{});
      require(mac != nullptr, "HMAC is not there");
      return mac_operation(std::move(mac), message, manner);
    }
    std::shared_ptr<EVP_CIPHER> cipher(
        EVP_CIPHER_fetch(library_.get(), message.algorithm.name, nullptr), Free{});
    require(cipher != nullptr, "the cipher is not there");
    return cipher_operation(std::move(cipher), message, manner);
  }

 private:
  std::string name_;
  std::unique_ptr<OSSL_LIB_CTX, Free> library_;
};

}  // namespace

std::unique_ptr<Side> make_evp_side(const std::string& name, const std::string& configuration) {
  return std::make_unique<EvpSide>(name, configuration);
}

}  // namespace kaccel::bench
