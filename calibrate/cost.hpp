// What a number of operations cost altogether.
#pragma once

#include <cstdint>

namespace kaccel::calibrate {

struct Cost {
  std::uint64_t wall_ns = 0;
  std::uint64_t cpu_ns = 0;  // of the process, the kernel's work for it included
  unsigned operations = 0;
};

inline Cost& operator+=(Cost& sum, const Cost& more) noexcept {
  sum.wall_ns += more.wall_ns;
  sum.cpu_ns += more.cpu_ns;
  sum.operations += more.operations;
  return sum;
}

}  // namespace kaccel::calibrate
