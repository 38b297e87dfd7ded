#include "provider/mac_route.hpp"

#include <algorithm>

#include "provider/names.hpp"

namespace kaccel {

bool has_mac_route(const MacRoute::Digest& digest) noexcept {
  return digest.names != nullptr && digest.driver.name[0] != '\0' && digest.threshold >= 0;
}

MacRoute::Digest* MacRoute::find(const char* name) noexcept {
  const auto found = std::find_if(digests.begin(), digests.end(), [name](const Digest& digest) {
    return has_mac_route(digest) && is_any_name(digest.names, name);
  });
  return found == digests.end() ? nullptr : &*found;
}

}  // namespace kaccel
