#include <memory>
#include <stdexcept>

#include "sides.hpp"

#ifdef KACCEL_BENCH_HAS_KCAPI
#include <kcapi.h>

#include <array>
#endif

namespace kaccel::bench {

#ifndef KACCEL_BENCH_HAS_KCAPI

std::unique_ptr<Side> make_kcapi_side(const Drivers&) {
  throw std::runtime_error("the bench was built without libkcapi (Debian: libkcapi-dev)");
}

std::string kcapi_version() {
  return "";
}

#else

namespace {

// What one call takes without starting again from the first IV is 16 pages (libkcapi 1.4.0). All
// sizes here are below that.
constexpr std::size_t largest_call = std::size_t{16} * 4096;

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

std::uint32_t key_size(const Message& message) {
  return static_cast<std::uint32_t>(message.key.size());
}

struct DestroyCipher {
  void operator()(kcapi_handle* handle) const { kcapi_cipher_destroy(handle); }
};
struct DestroyHash {
  void operator()(kcapi_handle* handle) const { kcapi_md_destroy(handle); }
};

std::unique_ptr<kcapi_handle, DestroyCipher> keyed_cipher(const std::string& driver,
                                                          const Message& message) {
  kcapi_handle* handle = nullptr;
  require(kcapi_cipher_init(&handle, driver.c_str(), 0) == 0, "kcapi_cipher_init failed");
  std::unique_ptr<kcapi_handle, DestroyCipher> owned(handle);
  require(kcapi_cipher_setkey(handle, message.key.data(), key_size(message)) == 0,
          "kcapi_cipher_setkey failed");
  return owned;
}

void crypt(kcapi_handle* handle, const Message& message) {
  const auto call = message.encrypts() ? kcapi_cipher_encrypt : kcapi_cipher_decrypt;
  const auto size = message.input.size();
  require(call(handle, message.input.data(), size, message.iv.data(), message.output.data(), size,
               KCAPI_ACCESS_HEURISTIC) == static_cast<ssize_t>(size),
          "kcapi_cipher_encrypt or _decrypt failed");
}

std::unique_ptr<kcapi_handle, DestroyHash> keyed_hash(const std::string& driver,
                                                      const Message& message) {
  kcapi_handle* handle = nullptr;
  require(kcapi_md_init(&handle, driver.c_str(), 0) == 0, "kcapi_md_init failed");
  std::unique_ptr<kcapi_handle, DestroyHash> owned(handle);
  require(kcapi_md_setkey(handle, message.key.data(), key_size(message)) == 0,
          "kcapi_md_setkey failed");
  return owned;
}

void digest(kcapi_handle* handle, const Message& message) {
  const auto size = message.output.size();
  require(kcapi_md_digest(handle, message.input.data(), message.input.size(), message.output.data(),
                          size) == static_cast<ssize_t>(size),
          "kcapi_md_digest failed");
}

// A handle for each operation or for each message, and what is done with it.
template <typename Open, typename Use>
Operation operation(Open open, Use use, const std::string& driver, const Message& message,
                    Manner manner) {
  if (manner == Manner::new_context) {
    return [open, use, driver, message] { use(open(driver, message).get(), message); };
  }
  const std::shared_ptr<kcapi_handle> handle = open(driver, message);
  return [use, handle, message] { use(handle.get(), message); };
}

class KcapiSide final : public Side {
 public:
  explicit KcapiSide(const Drivers& drivers) : drivers_(drivers) {}

  std::string name() const override { return "libkcapi"; }

  Operation make_operation(const Message& message, Manner manner) override {
    const auto driver = drivers_.find(message.algorithm.kernel_algorithm);
    if (driver == drivers_.end() || message.algorithm.kind == Kind::gcm) return {};
    require(message.input.size() <= largest_call, "the message is too long for one call");
    return is_mac(message.algorithm)
               ? operation(keyed_hash, digest, driver->second, message, manner)
               : operation(keyed_cipher, crypt, driver->second, message, manner);
  }

 private:
  Drivers drivers_;
};

}  // namespace

std::unique_ptr<Side> make_kcapi_side(const Drivers& drivers) {
  return std::make_unique<KcapiSide>(drivers);
}

std::string kcapi_version() {
  std::array<char, 64> text{};
  kcapi_versionstring(text.data(), text.size());
  return text.data();
}

#endif

}  // namespace kaccel::bench
