// The thresholds that vectors are run at.
#pragma once

#include <array>
#include <string>

#include "provider/routing.hpp"

namespace kaccel::vectors {

inline constexpr std::array<Threshold, 3> tested_thresholds{never_hardware, always_hardware, 16};

// As a part of a test's name, e.g. threshold_16.
inline std::string threshold_name(Threshold threshold) {
  return "threshold_" + (threshold < 0 ? "never" : std::to_string(threshold));
}

}  // namespace kaccel::vectors
