// Brings OpenSSL's default provider along.
//
// Activating any provider turns off the default provider's implicit activation. A machine whose
// openssl.cnf activates kaccel alone would have no RSA, no random numbers and no ssh.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

namespace kaccel {

// Activates "default" in the application's library context unless it is active there. It then stays
// for as long as the library context does, also when kaccel is unloaded before. Returns false, with
// OpenSSL's error raised, when it cannot be loaded.
bool bring_default_provider(const OSSL_CORE_HANDLE* handle,
                            const OSSL_DISPATCH* core_functions) noexcept;

}  // namespace kaccel
