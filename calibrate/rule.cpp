#include "calibrate/rule.hpp"

namespace kaccel::calibrate {

namespace {

// What counts of the sizes: those above the last that failed.
std::size_t first_that_counts(std::span<const SizeVerdict> verdicts) noexcept {
  std::size_t first = 0;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].winner == Winner::failed) first = i + 1;
  }
  return first;
}

// Where hardware gets the sizes from `first_for_hardware` on.
double cost(std::span<const SizeVerdict> verdicts, std::size_t first_for_hardware) noexcept {
  constexpr double slower_than_software = 2;
  double sum = 0;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const bool on_hardware = i >= first_for_hardware;
    if (on_hardware && verdicts[i].winner == Winner::software) {
      sum += slower_than_software * verdicts[i].lead;
    }
    if (!on_hardware && verdicts[i].winner == Winner::hardware) sum += verdicts[i].lead;
  }
  return sum;
}

}  // namespace

Threshold choose_threshold(std::span<const SizeVerdict> verdicts) noexcept {
  const std::size_t lowest = first_that_counts(verdicts);
  std::size_t chosen = verdicts.size();
  double least = cost(verdicts, chosen);
  for (std::size_t i = verdicts.size(); i-- > lowest;) {
    if (verdicts[i].winner != Winner::hardware) continue;
    const double here = cost(verdicts, i);
    if (here >= least) continue;
    least = here;
    chosen = i;
  }
  if (chosen == verdicts.size()) return never_hardware;
  if (chosen > 0) return static_cast<Threshold>(verdicts[chosen - 1].size);
  const std::size_t size = verdicts[0].size;
  return size <= smallest_worthwhile ? always_hardware : static_cast<Threshold>(size) - 1;
}

std::vector<std::size_t> sizes_against(std::span<const SizeVerdict> verdicts, Threshold threshold) {
  std::vector<std::size_t> sizes;
  for (const auto& [size, winner, lead] : verdicts.subspan(first_that_counts(verdicts))) {
    const bool on_hardware = threshold >= 0 && size > static_cast<std::size_t>(threshold);
    const auto slower_side = on_hardware ? Winner::software : Winner::hardware;
    if (winner == slower_side) sizes.push_back(size);
  }
  return sizes;
}

const char* describe(Winner winner) noexcept {
  switch (winner) {
    case Winner::software:
      return "software";
    case Winner::hardware:
      return "hardware";
    case Winner::forbidden:
      return "forbidden";
    case Winner::failed:
      return "failed";
  }
  return "failed";
}

}  // namespace kaccel::calibrate
