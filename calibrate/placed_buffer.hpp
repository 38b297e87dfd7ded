// Memory at a chosen distance from a page border, with guards around it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kaccel::calibrate {

class PlacedBuffer {
 public:
  static constexpr std::size_t page = 4096;

  PlacedBuffer(std::size_t size, std::size_t past_page_border)
      : memory_(size + past_page_border + 2 * page + guard, guard_byte), size_(size) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + guard;
    offset_ = guard + (page - address % page) % page + past_page_border;
  }

  std::uint8_t* data() noexcept { return memory_.data() + offset_; }
  std::span<std::uint8_t> bytes() noexcept { return {data(), size_}; }

  bool holds(std::span<const std::uint8_t> expected) noexcept {
    const auto own = bytes();
    return std::equal(own.begin(), own.end(), expected.begin(), expected.end());
  }

  bool guards_are_whole() const noexcept {
    const auto bytes = std::span(memory_);
    return is_untouched(bytes.first(offset_)) && is_untouched(bytes.subspan(offset_ + size_));
  }

 private:
  static constexpr std::size_t guard = 64;  // bytes before and after that must stay as they are
  static constexpr std::uint8_t guard_byte = 0xa5;

  // Neither span is shorter than `guard`.
  static bool is_untouched(std::span<const std::uint8_t> bytes) noexcept {
    return bytes[0] == guard_byte && std::memcmp(&bytes[0], &bytes[1], bytes.size() - 1) == 0;
  }

  std::vector<std::uint8_t> memory_;
  std::size_t size_;
  std::size_t offset_ = 0;
};

}  // namespace kaccel::calibrate
