// OpenSSL's algorithm names: any letter case, and several for one algorithm, separated by colons.
#pragma once

#include <strings.h>

#include <algorithm>
#include <string_view>

namespace kaccel {

inline bool is_same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

inline bool is_any_name(std::string_view names, std::string_view name) noexcept {
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(':'));
    if (is_same_name(one, name)) return true;
    names.remove_prefix(std::min(one.size() + 1, names.size()));
  }
  return false;
}

}  // namespace kaccel
