// OpenSSL's dispatch table for kaccel's HMAC.
#pragma once

#include <openssl/core_dispatch.h>

#include <vector>

namespace kaccel {

// The table where at least one digest has a hardware route.
std::vector<OSSL_DISPATCH> routed_mac_table(const OSSL_DISPATCH* software);

// The table where none has: OpenSSL's own functions, so that a call costs nothing more.
std::vector<OSSL_DISPATCH> software_mac_table(const OSSL_DISPATCH* software);

}  // namespace kaccel
