// `statistics`: what hardware did for each program, from the files that programs count into.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace kaccel::calibrate {

struct StatisticsOptions {
  std::optional<std::string> directory;  // nothing: the one that OpenSSL's configuration names
  bool json = false;
};

// Prints a line for each program, user and algorithm that hardware served. Throws CommandError when
// the configuration names no directory or it cannot be read.
int statistics(const StatisticsOptions& options, std::ostream& out);

}  // namespace kaccel::calibrate
