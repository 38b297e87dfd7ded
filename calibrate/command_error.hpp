// How a command of kaccel-calibrate gives up: with one line and an exit status.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kaccel::calibrate {

enum ExitStatus : int {
  exit_done = 0,
  exit_cannot = 1,     // not on this machine: no AF_ALG, no driver, no permission
  exit_bad_input = 2,  // wrong usage, or a file that is not what it should be
};

class CommandError : public std::runtime_error {
 public:
  // The line is "WHAT: WHERE: WHAT TO DO".
  CommandError(ExitStatus exit_status, std::string_view what, std::string_view where,
               std::string_view what_to_do);

  ExitStatus status() const noexcept { return status_; }

 private:
  ExitStatus status_;
};

// Text that came from outside, made fit for a terminal's line: control characters and bytes that
// are not ASCII become '?', and what is longer than `limit` is cut and ends in "...".
std::string printable(std::string_view text, std::size_t limit = 60);

}  // namespace kaccel::calibrate
