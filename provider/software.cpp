#include "provider/software.hpp"

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <strings.h>

#include <new>

namespace kaccel {

std::unique_ptr<Software> Software::load() noexcept {
  std::unique_ptr<Software> software(new (std::nothrow) Software);
  if (software == nullptr) return nullptr;
  software->library_context_ = OSSL_LIB_CTX_new();
  if (software->library_context_ == nullptr) return nullptr;
  software->provider_ = OSSL_PROVIDER_load(software->library_context_, "default");
  if (software->provider_ == nullptr) return nullptr;
  software->provider_context_ = OSSL_PROVIDER_get0_provider_ctx(software->provider_);
  int no_cache = 0;
  software->ciphers_ =
      OSSL_PROVIDER_query_operation(software->provider_, OSSL_OP_CIPHER, &no_cache);
  if (software->ciphers_ == nullptr) return nullptr;
  return software;
}

Software::~Software() {
  if (ciphers_ != nullptr) OSSL_PROVIDER_unquery_operation(provider_, OSSL_OP_CIPHER, ciphers_);
  if (provider_ != nullptr) OSSL_PROVIDER_unload(provider_);
  OSSL_LIB_CTX_free(library_context_);
}

const OSSL_ALGORITHM* Software::find_cipher(std::string_view name) const noexcept {
  for (const OSSL_ALGORITHM* row = ciphers_; row->algorithm_names != nullptr; ++row) {
    std::string_view names(row->algorithm_names);
    const std::string_view first = names.substr(0, names.find(':'));
    if (first.size() == name.size() && ::strncasecmp(first.data(), name.data(), name.size()) == 0) {
      return row;
    }
  }
  return nullptr;
}

}  // namespace kaccel
