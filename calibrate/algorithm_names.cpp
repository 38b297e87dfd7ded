#include "calibrate/algorithm_names.hpp"

#include "calibrate/command_error.hpp"

namespace kaccel::calibrate {

std::string known_algorithm_names() {
  std::string names;
  for (const auto& algorithm : algorithm_table) {
    if (!names.empty()) names += ", ";
    names += algorithm.name;
  }
  return names;
}

const Algorithm& algorithm_named(const std::string& name) {
  const std::size_t index = find_algorithm(name);
  if (index == algorithm_table.size()) {
    throw CommandError(exit_bad_input, "unknown algorithm", printable(name),
                       "known are " + known_algorithm_names());
  }
  return algorithm_table[index];
}

}  // namespace kaccel::calibrate
