// How long both sides take at each size: sampling, free of OpenSSL and of the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cost.hpp"
#include "calibrate/preference.hpp"
#include "calibrate/rule.hpp"

namespace kaccel::calibrate {

// A side could not do or could not time its operations; what() says why.
struct MeasurementError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `operations` operations of `size` bytes and says what they cost. Throws MeasurementError.
using Side = std::function<Cost(std::size_t size, unsigned operations)>;

struct SizeMeasurement {
  std::size_t size = 0;
  Winner winner = Winner::failed;
  Cost software;  // no operations where forbidden or failed
  Cost hardware;
  std::string problem;  // why it failed, else ""
};

// The sizes of the sweep, unless the user names others: those of the published driver's own
// calibration and of the kernel's tcrypt.
std::vector<std::size_t> default_sizes();

// The same sizes, rounded up to whole blocks, ascending, each once.
std::vector<std::size_t> round_to_blocks(const std::vector<std::size_t>& sizes,
                                         std::size_t block_size);

// Measures the sizes of a direction, which come in ascending order.
//
// The rule: 4 operations of each side to warm up, 8 measured; where the totals differ by at most
// 10% of the lower, 16 more each; so too where hardware's total is as close to the longest that
// the preference accepts. Two short cuts leave every clear verdict as it is:
//  - Hardware's 8 operations end after 2 that took longer than what is accepted of 8, and 10% more:
//    whatever the other 6 took, software would have won.
//  - Beyond the first size that hardware wins and the next, close totals are left at that. After a
//    size where hardware took at most 3/4 of software's time, 1 operation to warm up and 2 measured
//    are enough there if they find such a lead again (a single one where software needs a
//    millisecond); if not, the size is measured by the rule.
class Sweep {
 public:
  Sweep(Side software, Side hardware, Preference preference = {})
      : software_(std::move(software)), hardware_(std::move(hardware)), preference_(preference) {}

  // Never throws MeasurementError: that becomes Winner::failed.
  SizeMeasurement measure(std::size_t size);

 private:
  SizeMeasurement measure_in_full(std::size_t size) const;
  SizeMeasurement measure_briefly(std::size_t size) const;
  // Beyond the first size that hardware wins and the next.
  bool little_can_change() const noexcept { return sizes_from_first_win_ >= 2; }
  bool may_be_brief() const noexcept { return little_can_change() && clear_lead_; }
  void remember(const SizeMeasurement& measured) noexcept;

  Side software_;
  Side hardware_;
  Preference preference_;
  unsigned sizes_from_first_win_ = 0;  // measured since then, that one included
  bool clear_lead_ = false;            // hardware's, at the size before
  bool long_operations_ = false;       // software's, there
};

// What stands for a size that the driver must not see.
SizeMeasurement forbidden_size(std::size_t size);

std::vector<SizeVerdict> verdicts(const std::vector<SizeMeasurement>& measurements);

}  // namespace kaccel::calibrate
