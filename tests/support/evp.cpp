#include "tests/support/evp.hpp"

#include <openssl/err.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace kaccel::testing {

namespace {

LibraryContext with_provider(const char* name) {
  LibraryContextPointer context(OSSL_LIB_CTX_new());
  if (context == nullptr) throw std::runtime_error("no library context");
  ProviderPointer provider(OSSL_PROVIDER_load(context.get(), name));
  if (provider == nullptr) throw std::runtime_error(std::string("no provider ") + name);
  return {std::move(context), std::move(provider)};
}

}  // namespace

LibraryContext LibraryContext::with_default_provider() {
  return with_provider("default");
}

LibraryContext LibraryContext::with_legacy_provider() {
  return with_provider("legacy");
}

bool has_legacy_provider() {
  ERR_set_mark();
  const LibraryContextPointer context(OSSL_LIB_CTX_new());
  const ProviderPointer provider(OSSL_PROVIDER_load(context.get(), "legacy"));
  ERR_pop_to_mark();
  return provider != nullptr;
}

CipherPointer fetch_cipher(const LibraryContext& library, const char* name) noexcept {
  return CipherPointer(EVP_CIPHER_fetch(library.get(), name, nullptr));
}

}  // namespace kaccel::testing
