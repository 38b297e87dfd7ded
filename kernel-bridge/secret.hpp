// Key bytes that do not outlive their use.
#pragma once

#include <string.h>  // explicit_bzero (glibc >= 2.25, musl >= 1.1.20)

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernel-bridge/algorithm.hpp"

namespace kaccel::kernel {

// Overwrites memory in a way the compiler may not leave out.
inline void wipe(void* memory, std::size_t size) noexcept {
  ::explicit_bzero(memory, size);
}

// Up to max_key_size secret bytes; wiped when replaced, cleared or destroyed.
class SecretKey {
 public:
  SecretKey() = default;
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey() { clear(); }

  // key.size() must be at most max_key_size; a longer key leaves the secret empty.
  void assign(std::span<const std::uint8_t> key) noexcept {
    clear();
    if (key.size() > bytes_.size()) return;
    std::copy(key.begin(), key.end(), bytes_.begin());
    size_ = key.size();
  }

  void clear() noexcept {
    wipe(bytes_.data(), bytes_.size());
    size_ = 0;
  }

  std::span<const std::uint8_t> view() const noexcept { return {bytes_.data(), size_}; }
  bool empty() const noexcept { return size_ == 0; }

  // Takes the same time wherever the first difference lies.
  bool equals(std::span<const std::uint8_t> other) const noexcept {
    if (other.size() != size_) return false;
    // By words: the pool compares with every session it has.
    std::uint64_t difference = 0;
    std::size_t i = 0;
    for (; i + sizeof difference <= size_; i += sizeof difference) {
      difference |= word_at(bytes_.data() + i) ^ word_at(other.data() + i);
    }
    for (; i < size_; ++i) difference |= std::uint64_t{bytes_[i]} ^ other[i];
    return difference == 0;
  }

 private:
  static std::uint64_t word_at(const std::uint8_t* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }

  std::array<std::uint8_t, max_key_size> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace kaccel::kernel
