// `run`: self-test, measure, decide, write the thresholds file.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/helper_process.hpp"
#include "calibrate/machine.hpp"

namespace kaccel::calibrate {

struct RunOptions {
  std::optional<std::string> output;    // "-": standard output; nothing: default_output_path()
  std::vector<std::string> drivers;     // empty: every usable hardware driver
  std::vector<std::string> algorithms;  // OpenSSL's names; empty: all
  std::string sizes;                    // as typed, "16,64,1024"; empty: default_sizes()
  std::string prefer = "speed";         // as typed, see parse_preference()
  std::string threads = "1";            // as typed, callers at a time
  bool json = false;
  bool quiet = false;  // no progress and no report
  // Whether the self-test also tries what is known to go wrong, instead of taking it for granted.
  bool test_known_faults = false;
  HelperLimits limits;
};

// "16,64,1024" as numbers, ascending. Throws CommandError (exit_bad_input).
std::vector<std::size_t> parse_sizes(const std::string& text);

// 1 to ConcurrentCallers::most. Throws CommandError (exit_bad_input).
unsigned parse_threads(const std::string& text);

// The report goes to `out`, faults of drivers to `notes`, a line each. Everything that can be wrong
// with options or machine is found out before the first measurement. Throws CommandError; then no
// file was written.
int run(const RunOptions& options, const Machine& machine, std::ostream& out, std::ostream& notes);

}  // namespace kaccel::calibrate
