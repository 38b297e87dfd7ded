// `explain ALG SIZE`: where a call of that size goes, and why.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "calibrate/configuration.hpp"
#include "calibrate/machine.hpp"

namespace kaccel::calibrate {

struct ExplainOptions {
  std::string algorithm;
  std::string size;  // as typed
  bool decrypt = false;
  std::optional<std::string> config;
  bool json = false;
};

// Prints the answer in its first line, then what it rests on. Throws CommandError on an algorithm
// that kaccel does not know, on a size that is none, and on a direction for an HMAC.
int explain(const ExplainOptions& options, const Configuration& configuration,
            const Machine& machine, std::ostream& out);

}  // namespace kaccel::calibrate
