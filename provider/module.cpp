// kaccel.so: the one symbol OpenSSL looks for.

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "provider/provider.hpp"

extern "C" __attribute__((visibility("default"))) OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in,
                       const OSSL_DISPATCH** out, void** provctx) {
  return kaccel::init_provider(handle, in, out, provctx, nullptr);
}
