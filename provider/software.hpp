// OpenSSL's own implementations, called directly (DESIGN 3).
//
// The default provider is loaded a second time, into a private library context, and its dispatch
// functions are called with its own provider context. Nothing is ever fetched from the
// application's library context, so kaccel cannot find itself.
#pragma once

#include <openssl/core.h>
#include <openssl/provider.h>

#include <memory>
#include <string_view>

namespace kaccel {

class Software {
 public:
  // nullptr, with OpenSSL errors raised, when the default provider cannot be loaded or memory is
  // out.
  static std::unique_ptr<Software> load() noexcept;

  Software(const Software&) = delete;
  Software& operator=(const Software&) = delete;
  ~Software();

  // The default provider's entry for a cipher by its first name ("AES-128-CBC"), or nullptr.
  const OSSL_ALGORITHM* find_cipher(std::string_view name) const noexcept;

  // What the default provider's functions expect as their provider context.
  void* provider_context() const noexcept { return provider_context_; }

 private:
  Software() = default;

  OSSL_LIB_CTX* library_context_ = nullptr;
  OSSL_PROVIDER* provider_ = nullptr;
  void* provider_context_ = nullptr;
  const OSSL_ALGORITHM* ciphers_ = nullptr;
};

}  // namespace kaccel
