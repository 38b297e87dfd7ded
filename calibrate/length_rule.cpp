#include "calibrate/length_rule.hpp"

#include <algorithm>
#include <iterator>

namespace kaccel::calibrate {
namespace {

// Smaller than 32 is a cipher's block, larger than 4096 no device's unit.
constexpr std::size_t smallest_multiple = 32;
constexpr std::size_t largest_multiple = 4096;

bool explains(const kernel::Restrictions& rule, std::span<const LengthResult> results) {
  return std::all_of(results.begin(), results.end(), [&](const LengthResult& result) {
    const bool permitted =
        kernel::permits_size(rule, result.length) && result.length <= rule.max_size;
    return permitted == result.passed;
  });
}

}  // namespace

std::optional<kernel::Restrictions> find_length_rule(std::span<const LengthResult> results) {
  const auto passed = [](const LengthResult& result) { return result.passed; };
  const auto first_good = std::find_if(results.begin(), results.end(), passed);
  const auto after_good = std::find_if(results.rbegin(), results.rend(), passed).base();
  if (first_good == results.end()) return {};
  kernel::Restrictions from_below;
  if (first_good != results.begin()) from_below.min_size = first_good->length;
  kernel::Restrictions both_ends = from_below;
  if (after_good != results.end()) both_ends.max_size = std::prev(after_good)->length;

  if (explains(both_ends, results)) return both_ends;
  for (std::size_t multiple = largest_multiple; multiple >= smallest_multiple; multiple /= 2) {
    for (auto rule : {from_below, both_ends}) {
      rule.multiple_above = multiple;
      rule.size_multiple = multiple;
      if (explains(rule, results)) return rule;
    }
  }
  return {};
}

}  // namespace kaccel::calibrate
