#include "provider/message_buffer.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "kernel-bridge/secret.hpp"

namespace kaccel {

MessageBuffer::~MessageBuffer() {
  give_back();
}

bool MessageBuffer::grow(std::size_t more) noexcept {
  constexpr std::size_t smallest = 256;
  if (more > limit_ - size_) return false;
  const std::size_t capacity = std::min(std::bit_ceil(std::max(size_ + more, smallest)), limit_);
  std::unique_ptr<std::uint8_t[]> larger(new (std::nothrow) std::uint8_t[capacity]);
  if (larger == nullptr) return false;
  const std::size_t size = size_;
  if (size != 0) std::memcpy(larger.get(), bytes_.get(), size);
  give_back();
  bytes_ = std::move(larger);
  capacity_ = capacity;
  size_ = size;
  return true;
}

void MessageBuffer::give_back() noexcept {
  if (capacity_ != 0) kernel::wipe(bytes_.get(), std::max(size_, dirty_));
  bytes_.reset();
  size_ = 0;
  capacity_ = 0;
  dirty_ = 0;
}

}  // namespace kaccel
