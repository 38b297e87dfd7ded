#include "provider/algorithms.hpp"

#include <algorithm>

#include "provider/names.hpp"

namespace kaccel {

std::size_t find_algorithm(std::string_view name) noexcept {
  const auto row = std::find_if(
      algorithm_table.begin(), algorithm_table.end(),
      [name](const Algorithm& algorithm) { return is_same_name(algorithm.name, name); });
  return static_cast<std::size_t>(row - algorithm_table.begin());
}

}  // namespace kaccel
