#include "calibrate/sweep.hpp"

#include <algorithm>

namespace kaccel::calibrate {
namespace {

constexpr unsigned warm_up_operations = 4;
constexpr unsigned first_operations = 8;
constexpr unsigned further_operations = 16;

void add(Cost& sum, const Cost& more) {
  sum.wall_ns += more.wall_ns;
  sum.cpu_ns += more.cpu_ns;
}

bool is_close(std::uint64_t a, std::uint64_t b) {
  return std::max(a, b) - std::min(a, b) <= std::min(a, b) / 10;
}

}  // namespace

std::vector<std::size_t> default_sizes() {
  return {16, 64, 128, 256, 512, 1024, 1420, 2048, 4096, 8192, 16384};
}

std::vector<std::size_t> round_to_blocks(const std::vector<std::size_t>& sizes,
                                         std::size_t block_size) {
  std::vector<std::size_t> rounded;
  for (const std::size_t size : sizes) {
    rounded.push_back((size + block_size - 1) / block_size * block_size);
  }
  std::sort(rounded.begin(), rounded.end());
  rounded.erase(std::unique(rounded.begin(), rounded.end()), rounded.end());
  return rounded;
}

SizeMeasurement measure_size(std::size_t size, const Side& software, const Side& hardware) {
  SizeMeasurement result;
  result.size = size;
  try {
    software(size, warm_up_operations);
    add(result.software, software(size, first_operations));
    hardware(size, warm_up_operations);
    add(result.hardware, hardware(size, first_operations));
    result.operations = first_operations;
    if (is_close(result.software.wall_ns, result.hardware.wall_ns)) {
      add(result.software, software(size, further_operations));
      add(result.hardware, hardware(size, further_operations));
      result.operations += further_operations;
    }
  } catch (const MeasurementError& error) {
    SizeMeasurement failed;
    failed.size = size;
    failed.problem = error.what();
    return failed;
  }
  result.winner =
      result.hardware.wall_ns < result.software.wall_ns ? Winner::hardware : Winner::software;
  return result;
}

SizeMeasurement forbidden_size(std::size_t size) {
  SizeMeasurement forbidden;
  forbidden.size = size;
  forbidden.winner = Winner::forbidden;
  return forbidden;
}

std::vector<SizeVerdict> verdicts(const std::vector<SizeMeasurement>& measurements) {
  std::vector<SizeVerdict> result;
  for (const auto& measurement : measurements) {
    result.push_back({measurement.size, measurement.winner});
  }
  return result;
}

}  // namespace kaccel::calibrate
