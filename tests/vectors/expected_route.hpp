// What a vector test expects around the bytes: where they were ciphered, and no stray error.
#pragma once

#include <cstddef>
#include <string>

#include "known_answers.hpp"
#include "provider/routing.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {

// One message in a single update.
struct Call {
  const char* algorithm;  // false for one without a row of its own
  Threshold threshold;
  std::size_t size;
  const Bytes& key;                  // as OpenSSL takes it
  bool ciphertext_stealing = false;  // as configured
};

// Whether the driver under test has to answer it. An IV of GCM is taken to be 12 bytes.
bool goes_to_hardware(const Call& call);

// No call fell back to software, and the fake transport has seen nothing wrong.
void expect_clean_run(const kaccel::testing::KaccelUnderTest& kaccel);

// The newest error in OpenSSL's queue as text, "" where there is none; empties the queue.
std::string take_error();

}  // namespace kaccel::vectors
