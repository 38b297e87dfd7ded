#include "provider/algorithms.hpp"

#include <strings.h>

#include <algorithm>

namespace kaccel {

std::size_t find_algorithm(std::string_view name) noexcept {
  const auto row =
      std::find_if(algorithm_table.begin(), algorithm_table.end(), [name](const Algorithm& a) {
        const std::string_view own(a.name);
        return own.size() == name.size() && ::strncasecmp(own.data(), name.data(), own.size()) == 0;
      });
  return static_cast<std::size_t>(row - algorithm_table.begin());
}

}  // namespace kaccel
