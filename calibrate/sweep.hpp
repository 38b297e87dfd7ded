// How long both sides take at each size: sampling, free of OpenSSL and of the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/rule.hpp"

namespace kaccel::calibrate {

// What a number of operations cost altogether.
struct Cost {
  std::uint64_t wall_ns = 0;
  std::uint64_t cpu_ns = 0;  // of this process, the kernel's work for it included
};

// A side could not do or could not time its operations; what() says why.
struct MeasurementError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs `operations` operations of `size` bytes. Throws MeasurementError.
using Side = std::function<Cost(std::size_t size, unsigned operations)>;

struct SizeMeasurement {
  std::size_t size = 0;
  Winner winner = Winner::failed;
  unsigned operations = 0;  // measured, each side; 0 where forbidden or failed
  Cost software;            // of all these operations
  Cost hardware;
  std::string problem;  // why it failed, else ""
};

// The sizes of the sweep, unless the user names others: those of the published driver's own
// calibration and of the kernel's tcrypt.
std::vector<std::size_t> default_sizes();

// The same sizes, rounded up to whole blocks, ascending, each once.
std::vector<std::size_t> round_to_blocks(const std::vector<std::size_t>& sizes,
                                         std::size_t block_size);

// 4 operations of each side to warm up, 8 measured; where the totals differ by at most 10% of the
// lower, 16 more each. Never throws MeasurementError: that becomes Winner::failed.
SizeMeasurement measure_size(std::size_t size, const Side& software, const Side& hardware);

// What stands for a size that the driver must not see.
SizeMeasurement forbidden_size(std::size_t size);

std::vector<SizeVerdict> verdicts(const std::vector<SizeMeasurement>& measurements);

}  // namespace kaccel::calibrate
