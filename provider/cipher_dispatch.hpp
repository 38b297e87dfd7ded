// OpenSSL's dispatch tables for kaccel's ciphers.
#pragma once

#include <openssl/core_dispatch.h>

#include <cstddef>
#include <vector>

namespace kaccel {

// The table of row `row` of algorithm_table where it has a hardware route.
std::vector<OSSL_DISPATCH> routed_table(std::size_t row, const OSSL_DISPATCH* software);

// The table where it has none: the default provider's own, so that a call costs nothing more. Only
// what is given kaccel's provider context is replaced, since OpenSSL's functions expect their own.
std::vector<OSSL_DISPATCH> software_table(std::size_t row, const OSSL_DISPATCH* software);

}  // namespace kaccel
