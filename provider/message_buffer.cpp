#include "provider/message_buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "kernel-bridge/secret.hpp"

namespace kaccel {
namespace {

constexpr std::size_t smallest_capacity = 256;
// TLS records fit; what a longer message needed is not kept for the next one.
constexpr std::size_t largest_kept = std::size_t{32} << 10;

}  // namespace

MessageBuffer::~MessageBuffer() {
  clear();
}

bool MessageBuffer::append(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.empty()) return true;
  if (bytes.size() > std::numeric_limits<std::size_t>::max() / 2 - size_) return false;
  if (bytes.size() > capacity_ - size_ && !reserve(size_ + bytes.size())) return false;
  std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  return true;
}

bool MessageBuffer::reserve(std::size_t capacity) noexcept {
  capacity = std::bit_ceil(std::max(capacity, smallest_capacity));
  std::unique_ptr<std::uint8_t[]> larger(new (std::nothrow) std::uint8_t[capacity]);
  if (larger == nullptr) return false;
  if (size_ != 0) {
    std::memcpy(larger.get(), bytes_.get(), size_);
    kernel::wipe(bytes_.get(), size_);
  }
  bytes_ = std::move(larger);
  capacity_ = capacity;
  return true;
}

void MessageBuffer::clear() noexcept {
  if (size_ != 0) kernel::wipe(bytes_.get(), size_);
  size_ = 0;
  if (capacity_ > largest_kept) {
    bytes_.reset();
    capacity_ = 0;
  }
}

}  // namespace kaccel
