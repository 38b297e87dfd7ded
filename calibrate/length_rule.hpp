// From the lengths at which a driver answered wrongly to a restriction that the thresholds file can
// say.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kernel-bridge/restrictions.hpp"

namespace kaccel::calibrate {

struct LengthResult {
  std::size_t length;
  bool passed;
};

// `results` in ascending order of length. Where the good lengths are all neighbours, the result
// keeps the driver to them: bad ones below give min_size (the smallest good length), bad ones above
// give max_size (the largest). Nothing where no length is good, or a bad one lies between good
// ones.
std::optional<kernel::Restrictions> find_length_rule(std::span<const LengthResult> results);

}  // namespace kaccel::calibrate
