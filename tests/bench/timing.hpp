// How long one call takes, by CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <functional>

namespace kaccel::bench {

struct Effort {
  unsigned warm_up = 5;            // calls before the timed ones
  unsigned operations = 50;        // timed calls, at least
  std::uint64_t milliseconds = 0;  // of timed calls, at least: a short call averages out interrupts
};

// Nanoseconds a call, the mean of the timed ones. What the call throws passes through.
double time_calls(const Effort& effort, const std::function<void()>& call);

}  // namespace kaccel::bench
