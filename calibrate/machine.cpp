#include "calibrate/machine.hpp"

#include <algorithm>

namespace kaccel::calibrate {

Machine this_machine(kernel::Transport& transport) {
  return {this_kernel(), kernel::af_alg_available(), kernel::discover(), transport};
}

const kernel::Driver* find_driver(const Machine& machine, std::string_view name) noexcept {
  const auto found =
      std::find_if(machine.drivers.begin(), machine.drivers.end(),
                   [&](const kernel::Driver& driver) { return driver.entry.driver == name; });
  return found != machine.drivers.end() ? &*found : nullptr;
}

}  // namespace kaccel::calibrate
