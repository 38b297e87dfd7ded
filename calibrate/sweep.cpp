#include "calibrate/sweep.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/units.hpp"

namespace kaccel::calibrate {
namespace {

constexpr unsigned warm_up_operations = 4;
constexpr unsigned first_operations = 8;
constexpr unsigned further_operations = 16;
// Of the first ones: hardware's may end here.
constexpr unsigned telling_operations = 2;

constexpr unsigned brief_warm_up = 1;
constexpr unsigned brief_operations = 2;
// So long that neither a cold cache nor the clock's steps matter.
constexpr double long_operation_ns = 1e6;

// Of as many operations each.
bool is_clear_lead(const Cost& software, const Cost& hardware) {
  return hardware.wall_ns <= software.wall_ns / 4 * 3;
}

// Hardware that won for the CPU time it frees, though it is slower, won all the same.
double lead(const SizeMeasurement& m) {
  constexpr double least = 0.01;
  if (m.software.wall_ns == 0 || m.hardware.wall_ns == 0) return least;  // nothing was measured
  const double factor = std::log(ns_per_operation(m.software) / ns_per_operation(m.hardware));
  return std::max(m.winner == Winner::hardware ? factor : -factor, least);
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

SizeMeasurement Sweep::measure(std::size_t size) {
  SizeMeasurement result;
  try {
    result = may_be_brief() ? measure_briefly(size) : SizeMeasurement{};
    if (result.winner != Winner::hardware) result = measure_in_full(size);
  } catch (const MeasurementError& error) {
    result = {};
    result.size = size;
    result.problem = error.what();
  }
  remember(result);
  return result;
}

SizeMeasurement Sweep::measure_in_full(std::size_t size) const {
  SizeMeasurement result;
  result.size = size;
  software_(size, warm_up_operations);
  result.software = software_(size, first_operations);
  hardware_(size, warm_up_operations);
  result.hardware = hardware_(size, telling_operations);
  if (has_lost(result.software, result.hardware, preference_)) {
    result.winner = Winner::software;
    return result;
  }
  result.hardware += hardware_(size, first_operations - telling_operations);
  if (!little_can_change() && is_close(result.software, result.hardware, preference_)) {
    result.software += software_(size, further_operations);
    result.hardware += hardware_(size, further_operations);
  }
  const bool won = hardware_wins(result.software, result.hardware, preference_);
  result.winner = won ? Winner::hardware : Winner::software;
  return result;
}

// Failed where the lead is not clear.
SizeMeasurement Sweep::measure_briefly(std::size_t size) const {
  SizeMeasurement result;
  result.size = size;
  const unsigned warm_up = long_operations_ ? 0 : brief_warm_up;
  const unsigned operations = long_operations_ ? 1 : brief_operations;
  if (warm_up > 0) software_(size, warm_up);
  result.software = software_(size, operations);
  if (warm_up > 0) hardware_(size, warm_up);
  result.hardware = hardware_(size, operations);
  if (is_clear_lead(result.software, result.hardware)) result.winner = Winner::hardware;
  return result;
}

void Sweep::remember(const SizeMeasurement& measured) noexcept {
  if (measured.winner == Winner::failed) {
    // Wins below it do not count.
    sizes_from_first_win_ = 0;
  } else if (sizes_from_first_win_ > 0 || measured.winner == Winner::hardware) {
    ++sizes_from_first_win_;
  }
  clear_lead_ =
      measured.winner == Winner::hardware && is_clear_lead(measured.software, measured.hardware);
  long_operations_ = ns_per_operation(measured.software) >= long_operation_ns;
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
    result.push_back({measurement.size, measurement.winner, lead(measurement)});
  }
  return result;
}

}  // namespace kaccel::calibrate
