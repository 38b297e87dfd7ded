// Bytes that look random and are the same in every run, so that a fault can be found again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kaccel::calibrate {

class RandomBytes {
 public:
  explicit RandomBytes(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t number() noexcept {  // splitmix64
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::vector<std::uint8_t> bytes(std::size_t size) {
    std::vector<std::uint8_t> result(size);
    for (auto& byte : result) byte = static_cast<std::uint8_t>(number());
    return result;
  }

 private:
  std::uint64_t state_;
};

}  // namespace kaccel::calibrate
