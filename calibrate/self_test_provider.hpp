// The case of the battery that goes the whole way: kaccel's own provider on the driver, against
// OpenSSL's.
#pragma once

#include <cstddef>

#include "calibrate/openssl_context.hpp"
#include "calibrate/random_bytes.hpp"
#include "calibrate/self_test.hpp"

namespace kaccel::calibrate {

// A call of `length` bytes among short ones of random sizes, at odd addresses and in place, in both
// directions where there are two. `length` is one that the driver may see; where it is not whole
// blocks (XTS), neither are the random ones. Throws Fault.
void test_through_provider(const TestSubject& subject, kernel::Transport& transport,
                           const OpensslContext& software, RandomBytes& random, std::size_t length);

}  // namespace kaccel::calibrate
