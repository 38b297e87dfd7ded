// Loads a configuration in a process of its own, as a program does at its start, and looks what
// works there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/helper_process.hpp"

namespace kaccel::calibrate::doctor {

struct Trial {
  bool was_read = false;  // OpenSSL came to the file's end, or to what is wrong in it
  bool finished = false;
  std::string end;      // how it ended where it did not finish
  std::string refused;  // OpenSSL's reason for refusing the configuration, "" if it did not
  std::vector<std::string> providers;  // that are active
  std::string module_version;          // of the kaccel that was loaded, "" if none was
  std::string build_info;
  // What programs cannot do without, by a name for a person, and the provider that answers; ""
  // where nobody does.
  std::map<std::string, std::string> answers;
  // "same" as software, "different", or why there was no result.
  std::string encryption;

  bool has(const char* provider) const;
  // The names in `answers` that nobody answers.
  std::vector<std::string> missing() const;
};

inline constexpr const char* trial_cipher = "AES-256-CBC";
inline constexpr const char* trial_random = "random numbers";

// Call it with one thread only. Never throws but for want of memory or of a process.
Trial try_configuration(const std::string& path, const HelperLimits& limits = {});

struct LoadFault {
  std::string text;    // in the dynamic linker's own words; "" where it loads
  bool kills = false;  // a program that loads it is ended by a signal
};

// Why the dynamic linker would not load this module. In a process of its own.
LoadFault why_not_loadable(const std::string& module, const HelperLimits& limits = {});

}  // namespace kaccel::calibrate::doctor
