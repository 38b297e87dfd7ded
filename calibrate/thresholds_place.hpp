// Where the thresholds file is, unless somebody says otherwise.
#pragma once

#include <string>

namespace kaccel::calibrate {

// kaccel-thresholds.cnf in the directory of OpenSSL's configuration file; "" if unknown.
std::string default_output_path();

// That file's place beside another configuration file: beside the file itself, not beside a link to
// it.
std::string thresholds_path_beside(const std::string& config);

}  // namespace kaccel::calibrate
