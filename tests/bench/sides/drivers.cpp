#include "drivers.hpp"

#include <optional>

#include "kernel-bridge/discovery.hpp"

namespace kaccel::bench {
namespace {

using kernel::Driver;
using kernel::Hardness;

// Internal entries are for other drivers; no user's request by name reaches them.
const Driver* highest(const std::vector<Driver>& drivers, kernel::Algorithm algorithm,
                      bool hardware_only) {
  const Driver* best = nullptr;
  for (const Driver& driver : drivers) {
    if (driver.algorithm != algorithm || driver.entry.internal) continue;
    if (hardware_only && driver.hardness != Hardness::hardware) continue;
    if (best == nullptr || driver.entry.priority > best->entry.priority) best = &driver;
  }
  return best;
}

}  // namespace

Drivers hardware_drivers() {
  const std::vector<Driver> all = kernel::discover();
  Drivers drivers;
  for (std::size_t i = 0; i < kernel::algorithm_count; ++i) {
    const auto algorithm = static_cast<kernel::Algorithm>(i);
    const Driver* const driver = highest(all, algorithm, true);
    if (driver != nullptr) drivers[algorithm] = driver->entry.driver;
  }
  return drivers;
}

std::string preferred_driver(kernel::Algorithm algorithm) {
  const std::vector<Driver> all = kernel::discover();
  const Driver* const driver = highest(all, algorithm, false);
  return driver == nullptr ? "" : driver->entry.driver;
}

}  // namespace kaccel::bench
