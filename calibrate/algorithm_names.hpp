// OpenSSL's algorithm names, as a user types them.
#pragma once

#include <string>

#include "provider/algorithms.hpp"

namespace kaccel::calibrate {

// "AES-128-ECB, AES-192-ECB, ..."
std::string known_algorithm_names();

// Any letter case. Throws CommandError (exit_bad_input) that lists the known names.
const Algorithm& algorithm_named(const std::string& name);

}  // namespace kaccel::calibrate
