// What OpenSSL sees of the provider.
#pragma once

#include <openssl/core.h>

namespace kaccel {

struct Embedding;

// OpenSSL's provider entry (OSSL_provider_init_fn, provider(7)). `embedding` is nullptr for the
// module. Returns 1, or 0 with errors raised and nothing kept.
int init_provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core_functions,
                  const OSSL_DISPATCH** functions, void** provider_context,
                  const Embedding* embedding) noexcept;

}  // namespace kaccel
