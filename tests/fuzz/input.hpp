// A fuzz input, read from front to back, so that cutting it off cuts the sequence of calls off.
// Past its end everything reads as zero.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "provider/routing.hpp"

namespace kaccel::fuzzing {

using Bytes = std::vector<std::uint8_t>;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : provider_(data, size) {}

  bool is_empty() { return provider_.remaining_bytes() == 0; }

  std::uint8_t byte() {
    std::uint8_t value = 0;
    provider_.ConsumeData(&value, sizeof value);
    return value;
  }
  std::uint16_t word() {
    const unsigned high = byte();
    return static_cast<std::uint16_t>(high << 8U | byte());
  }
  bool flag() { return (byte() & 1U) != 0; }
  // limit: 1 to 65536.
  std::size_t below(std::size_t limit) { return (limit <= 256 ? byte() : word()) % limit; }
  template <class T, std::size_t size>
  const T& one_of(const std::array<T, size>& choices) {
    return choices[below(size)];
  }

  // Bytes of data for a call: small, around whole blocks, around the threshold, or anything.
  std::size_t data_size(Threshold threshold);

  // Data is not taken from the input but grown from its first bytes.
  void seed_data(std::uint64_t seed) { data_state_ = seed; }
  std::uint64_t grow();
  Bytes grow_bytes(std::size_t size);

 private:
  FuzzedDataProvider provider_;
  std::uint64_t data_state_ = 0;
};

}  // namespace kaccel::fuzzing
