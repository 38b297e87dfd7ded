// Runs something that may hang or crash in a process of its own. A driver's fault then costs one
// helper, not the calibration.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace kaccel::calibrate {

struct HelperLimits {
  std::chrono::milliseconds quiet{10'000};   // longest time between two lines
  std::chrono::milliseconds total{300'000};  // longest time altogether
  std::chrono::milliseconds slow{500};       // longest time for a short request, see self_test()
};

enum class HelperEnd : std::uint8_t {
  finished,   // the job returned
  threw,      // the job threw; `detail` is what()
  died,       // a signal ended it
  timed_out,  // it was killed for breaking a limit
  stuck,      // so, and it does not even die: it sleeps uninterruptibly in the kernel. It was left
              // behind and ends when the driver lets go of it
};

struct HelperResult {
  HelperEnd end;
  std::string detail;              // one phrase for a person, "" where finished
  bool took_all_its_time = false;  // it broke the limit of the time altogether
};

// What the job says to its parent, a line at a time.
using SayLine = std::function<void(std::string_view line)>;

// Forks, runs `job` there, and calls `on_line` here for each line as it comes. Call it from a
// program with a single thread only. Throws std::system_error when there is no helper to be had.
HelperResult run_in_helper(const std::function<void(const SayLine& say)>& job,
                           const SayLine& on_line, const HelperLimits& limits = {});

}  // namespace kaccel::calibrate
