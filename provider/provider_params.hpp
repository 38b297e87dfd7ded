// The provider's parameters: name, version, state, and the counters.
#pragma once

#include <openssl/core.h>

namespace kaccel {

// Besides OpenSSL's "name", "version", "buildinfo" and "status", unsigned 64-bit integers that only
// grow while the provider is loaded, for OSSL_PROVIDER_get_params:
//   hardware-calls    calls that hardware answered to the end
//   hardware-bytes    bytes that hardware ciphered
//   fallbacks         calls that hardware failed and software finished
//   requests          requests sent to the kernel (a long call takes several)
//   sessions-opened   kernel sessions opened
//   sessions-open     kernel sessions open now (this one also shrinks)
//   keys-loaded       keys loaded into kernel sessions
// Where the configuration has `statistics`, all but sessions-open are of all processes of this
// program and user, as in the statistics file.
const OSSL_PARAM* gettable_params(void* provider_context) noexcept;
int get_params(void* provider_context, OSSL_PARAM params[]) noexcept;

}  // namespace kaccel
