// From measurements to a threshold: the rule, free of clocks and devices. `run` applies it to what
// it measures and `replay` to what others recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "provider/routing.hpp"

namespace kaccel::calibrate {

// Who was better at one size: the faster one, unless the user prefers otherwise (preference.hpp).
enum class Winner : std::uint8_t {
  software,  // also on a tie: hardware must be strictly faster
  hardware,
  forbidden,  // the driver must not get this size, so software has it without a measurement
  failed,     // one side could not be measured
};

struct SizeVerdict {
  std::size_t size;
  Winner winner;
};

// `verdicts` in strictly ascending order of size. The threshold is the tested size before the one
// at which hardware *first* wins, as the published driver's calibration has it: a later size at
// which software wins once more (noise, or a page border) does not move it. Beyond that:
//  - hardware never wins: never_hardware;
//  - it wins at the smallest size: always_hardware if that size is 16 or less; else one byte below
//    that size, since nothing smaller was measured and software keeps what nobody measured;
//  - a failed measurement does not enable hardware: wins at smaller sizes than a failed one do not
//    count, so the threshold is never below a size that failed.
Threshold choose_threshold(std::span<const SizeVerdict> verdicts) noexcept;

// The sizes beyond the one that decided the threshold at which software wins again. They make it
// doubtful.
std::vector<std::size_t> sizes_lost_again(std::span<const SizeVerdict> verdicts);

// One word: "software", "hardware", "forbidden", "failed".
const char* describe(Winner winner) noexcept;

}  // namespace kaccel::calibrate
