// kaccel set up so that one algorithm always goes to one driver.
#pragma once

#include <string>

#include "calibrate/call_size.hpp"
#include "provider/settings.hpp"

namespace kaccel::calibrate {

Settings always_on_hardware(const Algorithm& algorithm, const std::string& driver,
                            const CallLimits& limits);

}  // namespace kaccel::calibrate
