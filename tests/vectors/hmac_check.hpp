// One known answer of HMAC through kaccel: whatever file it comes from, the same is expected.
#pragma once

#include <openssl/evp.h>

#include "known_answers.hpp"
#include "provider/routing.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {

// In every passage the result begins with the tag, or does not where the answer is refused; the due
// messages are hardware's, each as a whole, and the others are not. `digest` as OpenSSL calls it.
void check_hmac_answer(const kaccel::testing::KaccelUnderTest& kaccel, EVP_MAC* mac,
                       const char* digest, Threshold threshold, const KnownAnswer& answer);

}  // namespace kaccel::vectors
