// `doctor`: what is wrong with this machine's configuration, and the lines that mend it.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "calibrate/doctor/finding.hpp"
#include "calibrate/machine.hpp"

namespace kaccel::calibrate {

struct DoctorOptions {
  std::optional<std::string> config;  // nothing: OpenSSL's own
  bool json = false;
};

// Everything there is to say of the configuration in the file `path` on `machine`. Starts helper
// processes: call it with one thread only.
doctor::Findings examine(const std::string& path, const Machine& machine);

// Prints the findings. Returns exit_done if there is nothing to mend, else exit_cannot.
int print_findings(const doctor::Findings& findings, bool json, std::ostream& out);

int run_doctor(const DoctorOptions& options, const Machine& machine, std::ostream& out);

}  // namespace kaccel::calibrate
