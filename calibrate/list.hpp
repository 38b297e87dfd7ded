// `list`: every driver of this kernel that serves an algorithm kaccel knows, for which of OpenSSL's
// algorithms, and whether it can be used.
#pragma once

#include <iosfwd>

#include "calibrate/machine.hpp"

namespace kaccel::calibrate {

struct ListOptions {
  bool json = false;
};

// Binds each driver once to see whether it can be used.
int list(const ListOptions& options, const Machine& machine, std::ostream& out);

}  // namespace kaccel::calibrate
