// Notices a driver that takes very long for next to nothing.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>

#include "calibrate/self_test_fault.hpp"

namespace kaccel::calibrate {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(std::chrono::milliseconds longest) noexcept : longest_(longest) {}

  // A request of `size` bytes that began at `start` is over. Throws SlowDriver at the second slow
  // one in a row: a busy machine may delay any one.
  void note(std::size_t size, Clock::time_point start) {
    constexpr std::size_t short_request = 4096;
    if (size > short_request) return;
    const auto taken = Clock::now() - start;
    slow_in_a_row_ = taken > longest_ ? slow_in_a_row_ + 1 : 0;
    if (slow_in_a_row_ < 2) return;
    throw SlowDriver(
        fmt::format("takes {} ms for a request of {} bytes, which is too slow to be of use",
                    std::chrono::duration_cast<std::chrono::milliseconds>(taken).count(), size));
  }

 private:
  std::chrono::milliseconds longest_;
  int slow_in_a_row_ = 0;
};

}  // namespace kaccel::calibrate
