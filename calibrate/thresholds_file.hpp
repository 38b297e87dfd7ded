// The text of kaccel-thresholds.cnf: OpenSSL's config syntax, for a person to read and edit.
#pragma once

#include <string>

#include "calibrate/calibration.hpp"

namespace kaccel::calibrate {

inline constexpr const char* thresholds_section = "kaccel_thresholds";

// `path`: where the file will lie, for its own instructions; "" if unknown.
std::string thresholds_file_text(const Calibration& calibration, const std::string& path);

// The lines for openssl.cnf that bring the file in, each with `indent` before it.
std::string include_instructions(const std::string& path, const std::string& indent);

}  // namespace kaccel::calibrate
