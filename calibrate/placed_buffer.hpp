// Memory at a chosen distance from a page border, with guards around it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

  bool guards_are_whole() const {
    const auto untouched = [](std::uint8_t byte) { return byte == guard_byte; };
    const auto start = memory_.begin() + static_cast<std::ptrdiff_t>(offset_);
    const auto end = start + static_cast<std::ptrdiff_t>(size_);
    return std::all_of(memory_.begin(), start, untouched) &&
           std::all_of(end, memory_.end(), untouched);
  }

 private:
  static constexpr std::size_t guard = 64;  // bytes before and after that must stay as they are
  static constexpr std::uint8_t guard_byte = 0xa5;

  std::vector<std::uint8_t> memory_;
  std::size_t size_;
  std::size_t offset_ = 0;
};

}  // namespace kaccel::calibrate
