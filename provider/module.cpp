// kaccel.so: the one symbol OpenSSL looks for.

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "provider/provider.hpp"

#ifdef KACCEL_STATIC_LIBSTDCXX
namespace __gnu_cxx {  // NOLINT: libstdc++'s name
void __freeres();      // NOLINT: declared in none of its headers
}

namespace {

// The libstdc++ inside the module sets memory aside for throwing when memory is out; it would be
// lost each time an application unloads the module.
__attribute__((destructor)) void free_what_libstdcxx_keeps() {
  __gnu_cxx::__freeres();
}

}  // namespace
#endif

// NOLINTNEXTLINE(readability-redundant-declaration): OpenSSL's header does not export it
extern "C" __attribute__((visibility("default"))) OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in,
                       const OSSL_DISPATCH** out, void** provctx) {
  return kaccel::init_provider(handle, in, out, provctx, nullptr);
}
