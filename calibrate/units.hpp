// Figures as a person reads them.
#pragma once

#include <cstdint>
#include <string>

#include "calibrate/cost.hpp"

namespace kaccel::calibrate {

// Both 0 where there are no operations.
double ns_per_operation(const Cost& cost) noexcept;
double cpu_ns_per_operation(const Cost& cost) noexcept;

// "812 ns", "3.41 us", "58.1 us", "1.20 ms".
std::string duration(double ns);

}  // namespace kaccel::calibrate
