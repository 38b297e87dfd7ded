// Bytes that look random and are the same in every run, so that a fault can be found again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
    for (std::size_t done = 0; done < size;) {
      const std::uint64_t eight = number();
      const std::size_t part = std::min(size - done, sizeof eight);
      std::memcpy(result.data() + done, &eight, part);
      done += part;
    }
    return result;
  }

 private:
  std::uint64_t state_;
};

}  // namespace kaccel::calibrate
