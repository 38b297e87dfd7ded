#include "calibrate/driver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/command_error.hpp"
#include "calibrate/served_algorithms.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Driver;

bool serves_any(const Driver& driver, const std::vector<const Algorithm*>& algorithms) {
  return std::any_of(algorithms.begin(), algorithms.end(), [&](const Algorithm* algorithm) {
    return algorithm->kernel_algorithm == driver.algorithm;
  });
}

std::vector<const Driver*> named_drivers(const Machine& machine,
                                         const std::vector<const Algorithm*>& algorithms,
                                         const std::vector<std::string>& names) {
  std::vector<const Driver*> drivers;
  for (const auto& name : names) {
    const auto* driver = find_driver(machine, name);
    if (driver == nullptr) {
      throw CommandError(exit_cannot, "unknown driver", printable(name),
                         "see `kaccel-calibrate list` for those of this kernel");
    }
    if (!serves_any(*driver, algorithms)) {
      throw CommandError(exit_cannot, "nothing to calibrate on the driver", printable(name),
                         fmt::format("it serves {} ({}), which was not asked for",
                                     driver->entry.name, describe_served(*driver)));
    }
    if (std::find(drivers.begin(), drivers.end(), driver) == drivers.end()) {
      drivers.push_back(driver);
    }
  }
  return drivers;
}

std::vector<const Driver*> hardware_drivers(const Machine& machine,
                                            const std::vector<const Algorithm*>& algorithms) {
  std::vector<const Driver*> drivers;
  for (const auto& driver : machine.drivers) {
    const bool hardware = driver.hardness == kernel::Hardness::hardware;
    if (hardware && serves_any(driver, algorithms)) drivers.push_back(&driver);
  }
  if (drivers.empty()) {
    throw CommandError(exit_cannot, "no hardware driver found", "/proc/crypto",
                       "load the device's module, or see `kaccel-calibrate list`");
  }
  return drivers;
}

}  // namespace

DriverChoice::DriverChoice(const Machine& machine, const std::vector<const Algorithm*>& algorithms,
                           const std::vector<std::string>& names) {
  if (!machine.af_alg) {
    throw CommandError(exit_cannot, why_no_af_alg(machine.af_alg), "nothing was measured",
                       "OpenSSL's software stays in use");
  }
  auto drivers = names.empty() ? hardware_drivers(machine, algorithms)
                               : named_drivers(machine, algorithms, names);
  std::stable_sort(drivers.begin(), drivers.end(), [](const Driver* a, const Driver* b) {
    return a->entry.priority > b->entry.priority;
  });
  for (const auto* driver : drivers) {
    const auto status = kernel::probe(machine.transport, *driver);
    wanted_.push_back(
        {driver, status ? std::string() : why_unusable(*driver, status, machine.kernel)});
  }
  const bool all_unusable = std::none_of(wanted_.begin(), wanted_.end(),
                                         [](const Wanted& w) { return w.why_not.empty(); });
  if (all_unusable) {
    throw CommandError(exit_cannot, "no driver can be used", wanted_[0].driver->entry.driver,
                       wanted_[0].why_not);
  }
}

DriverChoice::Candidates DriverChoice::candidates(const Algorithm& algorithm) const {
  Candidates result;
  for (const auto& [driver, why_not] : wanted_) {
    if (driver->algorithm != algorithm.kernel_algorithm) continue;
    const std::string refused = why_not_served(*driver, algorithm);
    if (!why_not.empty() || !refused.empty()) {
      result.passed_over.push_back(
          {algorithm.name, driver->entry.driver, why_not.empty() ? refused : why_not});
    } else {
      result.drivers.push_back(driver);
    }
  }
  return result;
}

}  // namespace kaccel::calibrate
