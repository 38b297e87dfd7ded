// What a case of the self-test can end with, besides right.
#pragma once

#include <stdexcept>
#include <string>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/status.hpp"

namespace kaccel::calibrate {

// A wrong answer, in one phrase.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The driver cannot be used for this algorithm at all: it does not bind or refuses the key size.
struct UnusableDriver : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The driver takes very long for next to nothing.
struct SlowDriver : UnusableDriver {
  using UnusableDriver::UnusableDriver;
};

// A failure with its errno's text.
std::string reason(const kernel::Status& status);

inline const char* noun(kernel::Direction direction) noexcept {
  return direction == kernel::Direction::encrypt ? "encryption" : "decryption";
}

}  // namespace kaccel::calibrate
