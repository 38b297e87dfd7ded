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
// give max_size (the largest). Where bad ones lie between, the good ones above some power of two
// from 32 to 4096 may be its multiples: the largest such number becomes size_multiple and
// multiple_above, besides min_size and max_size where these are needed. Nothing where no length is
// good, or no such rule gives exactly these results.
std::optional<kernel::Restrictions> find_length_rule(std::span<const LengthResult> results);

}  // namespace kaccel::calibrate
