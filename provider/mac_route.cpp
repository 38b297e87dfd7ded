#include "provider/mac_route.hpp"

#include <strings.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace kaccel {

bool has_mac_route(const MacRoute::Digest& digest) noexcept {
  return digest.names != nullptr && digest.driver.name[0] != '\0' && digest.threshold >= 0;
}

MacRoute::Digest* MacRoute::find(const char* name) noexcept {
  const std::size_t size = std::strlen(name);
  const auto is_called = [&](const Digest& digest) {
    if (!has_mac_route(digest)) return false;
    std::string_view names(digest.names);
    while (!names.empty()) {
      const std::string_view one = names.substr(0, names.find(':'));
      if (one.size() == size && ::strncasecmp(one.data(), name, size) == 0) return true;
      names.remove_prefix(std::min(one.size() + 1, names.size()));
    }
    return false;
  };
  const auto found = std::find_if(digests.begin(), digests.end(), is_called);
  return found == digests.end() ? nullptr : &*found;
}

}  // namespace kaccel
