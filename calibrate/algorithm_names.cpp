#include "calibrate/algorithm_names.hpp"

#include "calibrate/command_error.hpp"

namespace kaccel::calibrate {

std::string known_algorithm_names() {
  std::string names;
  for (const auto& algorithm : cipher_algorithms) {
    if (!names.empty()) names += ", ";
    names += algorithm.name;
  }
  return names;
}

const CipherAlgorithm& algorithm_named(const std::string& name) {
  const std::size_t index = find_cipher_algorithm(name);
  if (index == cipher_algorithms.size()) {
    throw CommandError(exit_bad_input, "unknown algorithm", printable(name),
                       "known are " + known_algorithm_names());
  }
  return cipher_algorithms[index];
}

}  // namespace kaccel::calibrate
