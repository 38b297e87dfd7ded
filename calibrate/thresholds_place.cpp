#include "calibrate/thresholds_place.hpp"

#include <filesystem>

#include "provider/config_file.hpp"

namespace kaccel::calibrate {

std::string thresholds_path_beside(const std::string& config) {
  // Debian's OPENSSLDIR holds a link to the file in /etc; the thresholds belong beside the file.
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(config, error);
  return ((error ? std::filesystem::path(config) : real).parent_path() / "kaccel-thresholds.cnf")
      .string();
}

std::string default_output_path() {
  const std::string config = default_config_path();
  return config.empty() ? std::string() : thresholds_path_beside(config);
}

}  // namespace kaccel::calibrate
