#include "provider/algorithms.hpp"

#include <strings.h>

#include <algorithm>

namespace kaccel {

std::size_t find_cipher_algorithm(std::string_view name) noexcept {
  const auto row = std::find_if(
      cipher_algorithms.begin(), cipher_algorithms.end(), [name](const CipherAlgorithm& a) {
        const std::string_view own(a.name);
        return own.size() == name.size() && ::strncasecmp(own.data(), name.data(), own.size()) == 0;
      });
  return static_cast<std::size_t>(row - cipher_algorithms.begin());
}

}  // namespace kaccel
