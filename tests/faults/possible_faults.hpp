// What each system call on an AF_ALG socket can answer besides success.
#pragma once

#include <span>

#include "tests/faults/fake_af_alg.hpp"

namespace kaccel::testing {

std::span<const SystemCallFault> possible_faults(SystemCall call);

}  // namespace kaccel::testing
