#include "calibrate/length_rule.hpp"

#include <algorithm>

namespace kaccel::calibrate {

std::optional<kernel::Restrictions> find_length_rule(std::span<const LengthResult> results) {
  const auto passed = [](const LengthResult& result) { return result.passed; };
  const auto first_good = std::find_if(results.begin(), results.end(), passed);
  const auto end_of_good = std::find_if_not(first_good, results.end(), passed);
  if (first_good == results.end() || std::any_of(end_of_good, results.end(), passed)) return {};
  kernel::Restrictions rule;
  if (first_good != results.begin()) rule.min_size = first_good->length;
  if (end_of_good != results.end()) rule.max_size = std::prev(end_of_good)->length;
  return rule;
}

}  // namespace kaccel::calibrate
