#include "provider/driver_key.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace kaccel {
namespace {

constexpr std::size_t des_key_size = 8;

// Whether any two of the three keys are equal, in a time that does not depend on them. The lowest
// bit of each byte is parity and no part of the key.
bool repeats(std::span<const std::uint8_t> key) noexcept {
  unsigned first_second = 0;
  unsigned second_third = 0;
  unsigned first_third = 0;
  for (std::size_t i = 0; i < des_key_size; ++i) {
    const unsigned first = key[i] & 0xfeU;
    const unsigned second = key[des_key_size + i] & 0xfeU;
    const unsigned third = key[2 * des_key_size + i] & 0xfeU;
    first_second |= first ^ second;
    second_third |= second ^ third;
    first_third |= first ^ third;
  }
  return first_second == 0 || second_third == 0 || first_third == 0;
}

}  // namespace

kernel::SecretKey driver_key(const CipherRoute& route, std::span<const std::uint8_t> key) noexcept {
  kernel::SecretKey result;
  if (route.two_key_des) {
    std::array<std::uint8_t, 3 * des_key_size> three{};
    std::copy(key.begin(), key.end(), three.begin());
    std::copy_n(key.begin(), des_key_size, three.begin() + 2 * des_key_size);
    result.assign(three);
    kernel::wipe(three.data(), three.size());
  } else {
    result.assign(key);
  }
  if (route.driver.restrictions.refuses_repeated_des_keys &&
      result.view().size() == 3 * des_key_size && repeats(result.view())) {
    result.clear();
  }
  return result;
}

}  // namespace kaccel
