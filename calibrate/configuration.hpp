// kaccel's configuration on this machine, read as an application reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "provider/settings.hpp"

namespace kaccel::calibrate {

struct Configuration {
  Settings settings;
  bool configured = false;           // the file has a section for kaccel
  std::string source;                // where the thresholds come from, for a person
  std::vector<std::string> remarks;  // what else the user should know, one line each
};

// `path`: a configuration file, or nothing for OpenSSL's own. Where it does not configure kaccel,
// or brings no thresholds, the published ones of the drivers in /proc/crypto (`proc_crypto`, its
// text) count, as in the provider. Throws CommandError (exit_bad_input) if a file that was named
// cannot be used or a section is wrong.
Configuration read_configuration(const std::optional<std::string>& path,
                                 const std::string& proc_crypto);

}  // namespace kaccel::calibrate
