// What a hardware call may cost: speed alone counts, or the CPU that it frees counts too.
#pragma once

#include <string>

#include "calibrate/cost.hpp"

namespace kaccel::calibrate {

struct Preference {
  static constexpr unsigned highest_percent = 400;

  // By how many percent of software's elapsed time hardware may be slower where it spends less CPU
  // time; 0: it must be faster.
  unsigned offload_percent = 0;

  bool operator==(const Preference&) const = default;
};

// "speed", or "offload=PERCENT" with 1 to highest_percent, a whole number. Throws CommandError
// (exit_bad_input).
Preference parse_preference(const std::string& text);

// As parse_preference() takes it.
std::string describe(Preference preference);

// Whether hardware wins, both having done as many operations: it was strictly faster, or the
// preference takes it for the CPU time it saved.
bool hardware_wins(const Cost& software, const Cost& hardware, Preference preference) noexcept;

// Whether the verdict may turn over with a few more operations: the elapsed times, or hardware's
// and the longest that the preference accepts, differ by at most 10% of the lower.
bool is_close(const Cost& software, const Cost& hardware, Preference preference) noexcept;

// Whether hardware has lost, and not closely, even if the operations that it still owes took no
// time at all.
bool has_lost(const Cost& software, const Cost& hardware_so_far, Preference preference) noexcept;

}  // namespace kaccel::calibrate
