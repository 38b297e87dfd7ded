// Which drivers are tried for an algorithm.
#pragma once

#include <string>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/machine.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::calibrate {

class DriverChoice {
 public:
  // `names`: the drivers that the user wants, also such as do not look like hardware; empty: every
  // hardware driver. Throws CommandError (exit_cannot) if AF_ALG is not there, a name is not in
  // /proc/crypto or serves none of the algorithms, or no driver can be used at all.
  DriverChoice(const Machine& machine, const std::vector<const Algorithm*>& algorithms,
               const std::vector<std::string>& names);

  struct Candidates {
    std::vector<const kernel::Driver*> drivers;  // usable; the kernel's favourite first
    std::vector<Skipped> passed_over;
  };
  Candidates candidates(const Algorithm& algorithm) const;

 private:
  struct Wanted {
    const kernel::Driver* driver;
    std::string why_not;  // "" where usable
  };
  std::vector<Wanted> wanted_;
};

}  // namespace kaccel::calibrate
