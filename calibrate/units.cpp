#include "calibrate/units.hpp"

#include <fmt/format.h>

namespace kaccel::calibrate {

double ns_per_operation(const Cost& cost) noexcept {
  return cost.operations == 0 ? 0 : static_cast<double>(cost.wall_ns) / cost.operations;
}

double cpu_ns_per_operation(const Cost& cost) noexcept {
  return cost.operations == 0 ? 0 : static_cast<double>(cost.cpu_ns) / cost.operations;
}

std::string duration(double ns) {
  const char* unit = "ns";
  double value = ns;
  for (const char* larger : {"us", "ms", "s"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  const int decimals = unit[0] == 'n' || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace kaccel::calibrate
