#include "calibrate/hardware_settings.hpp"

namespace kaccel::calibrate {

Settings always_on_hardware(const Algorithm& algorithm, const std::string& driver,
                            const CallLimits& limits) {
  Settings settings;
  settings.calibrated = true;
  settings.load_default = false;
  auto& row = settings.algorithms[find_algorithm(algorithm.name)];
  row.driver = driver;
  row.encrypt = always_hardware;
  row.decrypt = always_hardware;
  row.restrictions = limits.restrictions;
  row.ciphertext_stealing = limits.ciphertext_stealing;
  return settings;
}

}  // namespace kaccel::calibrate
