#include "calibrate/rule.hpp"

namespace kaccel::calibrate {

Threshold choose_threshold(std::span<const SizeVerdict> verdicts) noexcept {
  Threshold threshold = never_hardware;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const SizeVerdict& here = verdicts[i];
    if (here.winner == Winner::failed) threshold = never_hardware;
    if (here.winner != Winner::hardware || threshold != never_hardware) continue;
    if (i > 0) {
      threshold = static_cast<Threshold>(verdicts[i - 1].size);
    } else if (here.size <= smallest_worthwhile) {
      threshold = always_hardware;
    } else {
      threshold = static_cast<Threshold>(here.size) - 1;
    }
  }
  return threshold;
}

std::vector<std::size_t> sizes_lost_again(std::span<const SizeVerdict> verdicts) {
  std::vector<std::size_t> sizes;
  bool decided = false;
  for (const auto& [size, winner] : verdicts) {
    if (winner == Winner::failed) {
      decided = false;
      sizes.clear();
    }
    if (winner == Winner::hardware) decided = true;
    if (winner == Winner::software && decided) sizes.push_back(size);
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
