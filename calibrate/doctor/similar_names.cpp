#include "calibrate/doctor/similar_names.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace kaccel::calibrate::doctor {
namespace {

int small(char c) {
  return std::tolower(static_cast<unsigned char>(c));
}

}  // namespace

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (small(a[i]) == small(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

bool is_similar(std::string_view a, std::string_view b) {
  constexpr std::size_t most = 2;
  return distance(a, b) <= std::min(most, std::max(a.size(), b.size()) / 4);
}

}  // namespace kaccel::calibrate::doctor
