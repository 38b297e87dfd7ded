#include "tests/support/evp.hpp"

#include <stdexcept>
#include <utility>

namespace kaccel::testing {

LibraryContext LibraryContext::with_default_provider() {
  LibraryContextPointer context(OSSL_LIB_CTX_new());
  if (context == nullptr) throw std::runtime_error("no library context");
  ProviderPointer provider(OSSL_PROVIDER_load(context.get(), "default"));
  if (provider == nullptr) throw std::runtime_error("no default provider");
  return {std::move(context), std::move(provider)};
}

CipherPointer fetch_cipher(const LibraryContext& library, const char* name) noexcept {
  return CipherPointer(EVP_CIPHER_fetch(library.get(), name, nullptr));
}

}  // namespace kaccel::testing
