#include "tests/fuzz/input.hpp"

#include <cstring>

namespace kaccel::fuzzing {

std::size_t Input::data_size(Threshold threshold) {
  constexpr std::size_t block = 16;
  constexpr std::size_t margin = 24;
  constexpr std::size_t largest = 3000;
  const std::size_t kind = byte();
  const std::size_t amount = byte();
  switch (kind % 5) {
    case 0:
      return amount % (3 * block);
    case 1:
      return block * (amount % 64);
    case 2:
      return block * (1 + amount % 64) + kind / 5 % 3 - 1;
    case 3: {
      const auto near = static_cast<std::size_t>(std::clamp<Threshold>(threshold, 0, largest));
      return near + margin - std::min(near + margin, amount % (2 * margin));
    }
    default:
      return (kind << 8U | amount) % (largest + 1);
  }
}

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t Input::grow() {
  std::uint64_t z = data_state_ += 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27U) * 0x94d049bb133111ebU;
  return z ^ z >> 31U;
}

Bytes Input::grow_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
    const std::uint64_t value = grow();
    std::memcpy(bytes.data() + i, &value, std::min(sizeof value, size - i));
  }
  return bytes;
}

}  // namespace kaccel::fuzzing
