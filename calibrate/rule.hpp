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
  // How clearly it won: the logarithm of the factor between both sides' times, 0 or more.
  double lead = 1;
};

// `verdicts` in strictly ascending order of size. The threshold is the tested size before the one
// from which on hardware wins, and software below.
//
// Where the faster side changes more than once (software has code of its own for some sizes, or the
// machine was busy during a measurement), no threshold is right everywhere. The one chosen costs
// least: the sum, over the tested sizes that it sends to the slower side, of the winner's lead, in
// which hardware that is slower than software counts twice. The published driver's rule, the first
// size that hardware wins, is the same where the side changes once; elsewhere one noisy measurement
// of a small size would send everything above it to hardware.
//
// Beyond that:
//  - hardware never wins: never_hardware;
//  - it wins at the smallest size: always_hardware if that size is 16 or less; else one byte below
//    that size, since nothing smaller was measured and software keeps what nobody measured;
//  - a failed measurement does not enable hardware: the threshold is never below a size that
//  failed.
Threshold choose_threshold(std::span<const SizeVerdict> verdicts) noexcept;

// The sizes above all failed ones that `threshold` sends to the slower side.
std::vector<std::size_t> sizes_against(std::span<const SizeVerdict> verdicts, Threshold threshold);

// One word: "software", "hardware", "forbidden", "failed".
const char* describe(Winner winner) noexcept;

}  // namespace kaccel::calibrate
