#include "provider/software.hpp"

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <strings.h>

#include <new>

#include "provider/names.hpp"

namespace kaccel {
namespace {

// Many rows are looked at for each name, in every process: the first letter settles most.
bool is_first_name(const char* names, std::string_view name) noexcept {
  if ((names[0] | 0x20) != (name[0] | 0x20)) return false;
  return ::strncasecmp(names, name.data(), name.size()) == 0 &&
         (names[name.size()] == ':' || names[name.size()] == '\0');
}

template <class Matches>
const OSSL_ALGORITHM* find(OSSL_PROVIDER* provider, int operation, std::string_view name,
                           Matches matches) noexcept {
  if (provider == nullptr) return nullptr;
  // OpenSSL's own providers answer with static tables, so there is nothing to give back.
  int no_cache = 0;
  const OSSL_ALGORITHM* row = OSSL_PROVIDER_query_operation(provider, operation, &no_cache);
  for (; row != nullptr && row->algorithm_names != nullptr; ++row) {
    if (matches(row->algorithm_names, name)) return row;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Software> Software::load() noexcept {
  std::unique_ptr<Software> software(new (std::nothrow) Software);
  if (software == nullptr) return nullptr;
  software->library_context_ = OSSL_LIB_CTX_new();
  if (software->library_context_ == nullptr) return nullptr;
  software->default_ = OSSL_PROVIDER_load(software->library_context_, "default");
  return software->default_ == nullptr ? nullptr : std::move(software);
}

Software::~Software() {
  if (legacy_ != nullptr) OSSL_PROVIDER_unload(legacy_);
  if (default_ != nullptr) OSSL_PROVIDER_unload(default_);
  OSSL_LIB_CTX_free(library_context_);
}

bool Software::load_legacy() noexcept {
  if (legacy_ != nullptr) return true;
  ERR_set_mark();
  legacy_ = OSSL_PROVIDER_load(library_context_, "legacy");
  ERR_pop_to_mark();
  return legacy_ != nullptr;
}

SoftwareAlgorithm Software::find_cipher(std::string_view name) const noexcept {
  for (OSSL_PROVIDER* provider : {default_, legacy_}) {
    const OSSL_ALGORITHM* entry = find(provider, OSSL_OP_CIPHER, name, is_first_name);
    if (entry != nullptr) return {entry, OSSL_PROVIDER_get0_provider_ctx(provider)};
  }
  return {};
}

SoftwareAlgorithm Software::find_mac(std::string_view name) const noexcept {
  const OSSL_ALGORITHM* entry = find(default_, OSSL_OP_MAC, name, is_first_name);
  if (entry == nullptr) return {};
  return {entry, OSSL_PROVIDER_get0_provider_ctx(default_)};
}

const char* Software::find_digest_names(std::string_view name) const noexcept {
  const OSSL_ALGORITHM* entry = find(default_, OSSL_OP_DIGEST, name, is_any_name);
  return entry == nullptr ? nullptr : entry->algorithm_names;
}

}  // namespace kaccel
