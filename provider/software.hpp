// OpenSSL's own implementations, called directly (DESIGN 3).
//
// The default provider is loaded a second time, into a private library context, and its dispatch
// functions are called with its own provider context. Nothing is ever fetched from the
// application's library context, so kaccel cannot find itself.
#pragma once

#include <openssl/core.h>
#include <openssl/provider.h>

#include <array>
#include <memory>
#include <string_view>

namespace kaccel {

// An implementation, with what its functions expect as their provider context.
struct SoftwareAlgorithm {
  const OSSL_ALGORITHM* entry = nullptr;  // nullptr: this OpenSSL has it not
  void* provider_context = nullptr;
};

class Software {
 public:
  // nullptr, with OpenSSL errors raised, when the default provider cannot be loaded or memory is
  // out.
  static std::unique_ptr<Software> load() noexcept;

  Software(const Software&) = delete;
  Software& operator=(const Software&) = delete;
  ~Software();

  // Makes the legacy provider's ciphers findable: single DES is there. False, with no error raised,
  // where legacy.so is not installed.
  bool load_legacy() noexcept;

  // By first name ("AES-128-CBC", "HMAC"), of the default provider before the legacy one.
  SoftwareAlgorithm find_cipher(std::string_view name) const noexcept;
  SoftwareAlgorithm find_mac(std::string_view name) const noexcept;
  // All names of a digest that has `name` among them, separated by colons, or nullptr.
  const char* find_digest_names(std::string_view name) const noexcept;

  OSSL_LIB_CTX* library_context() const noexcept { return library_context_; }

 private:
  Software() = default;

  OSSL_LIB_CTX* library_context_ = nullptr;
  OSSL_PROVIDER* default_ = nullptr;
  OSSL_PROVIDER* legacy_ = nullptr;
};

}  // namespace kaccel
