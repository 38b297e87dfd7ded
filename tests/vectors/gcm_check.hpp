// One known answer of GCM through kaccel: whatever file it comes from, the same is expected.
#pragma once

#include <openssl/evp.h>

#include "known_answers.hpp"
#include "provider/routing.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {

// In every passage a refused answer must not open, and any other must seal and open to the byte.
// Where a refused one has its plaintext, that must not seal to the wrong tag. An IV that
// OpenSSL does not take, of no bytes or more than 128, is refused whatever else there is.
void check_gcm_answer(const kaccel::testing::KaccelUnderTest& kaccel, const EVP_CIPHER* cipher,
                      const char* algorithm, Threshold threshold, const KnownAnswer& answer);

}  // namespace kaccel::vectors
