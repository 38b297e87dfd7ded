// OpenSSL objects that free themselves.
#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <memory>

namespace kaccel::testing {

struct FreeEvp {
  void operator()(EVP_CIPHER* cipher) const noexcept { EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
  void operator()(OSSL_LIB_CTX* context) const noexcept { OSSL_LIB_CTX_free(context); }
  void operator()(OSSL_PROVIDER* provider) const noexcept { OSSL_PROVIDER_unload(provider); }
};

using CipherPointer = std::unique_ptr<EVP_CIPHER, FreeEvp>;
using CipherContextPointer = std::unique_ptr<EVP_CIPHER_CTX, FreeEvp>;
using LibraryContextPointer = std::unique_ptr<OSSL_LIB_CTX, FreeEvp>;
using ProviderPointer = std::unique_ptr<OSSL_PROVIDER, FreeEvp>;

// A library context with one provider in it, apart from the process's own.
class LibraryContext {
 public:
  // Throws std::runtime_error when OpenSSL will not.
  static LibraryContext with_default_provider();
  // For single DES, which OpenSSL has in its legacy provider.
  static LibraryContext with_legacy_provider();

  LibraryContext(LibraryContextPointer context, ProviderPointer provider) noexcept
      : context_(std::move(context)), provider_(std::move(provider)) {}

  OSSL_LIB_CTX* get() const noexcept { return context_.get(); }
  OSSL_PROVIDER* provider() const noexcept { return provider_.get(); }

 private:
  LibraryContextPointer context_;
  ProviderPointer provider_;  // goes first
};

// Whether this OpenSSL has legacy.so installed.
bool has_legacy_provider();

// nullptr when there is none; leaves the error in OpenSSL's queue then.
CipherPointer fetch_cipher(const LibraryContext& library, const char* name) noexcept;

}  // namespace kaccel::testing
