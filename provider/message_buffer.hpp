// The bytes of a message that is not yet sent anywhere. Wiped before it is given back: a key
// derivation's input is as secret as a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace kaccel {

class MessageBuffer {
 public:
  MessageBuffer() = default;
  MessageBuffer(const MessageBuffer&) = delete;
  MessageBuffer& operator=(const MessageBuffer&) = delete;
  ~MessageBuffer();

  // Empties it for a message of at most `limit` bytes.
  void start(std::size_t limit) noexcept {
    clear();
    if (capacity_ > limit) give_back();
    limit_ = limit;
  }

  // False, with the buffer as it was, beyond the limit and when memory is out.
  [[nodiscard]] bool append(const std::uint8_t* bytes, std::size_t size) noexcept {
    if (size > capacity_ - size_ && !grow(size)) return false;
    if (size != 0) std::memcpy(bytes_.get() + size_, bytes, size);
    size_ += size;
    return true;
  }

  // Keeps room for the next message, but not what a long one needed.
  void clear() noexcept {
    if (size_ > dirty_) dirty_ = size_;
    size_ = 0;
    if (capacity_ > largest_kept) give_back();
  }

  std::size_t limit() const noexcept { return limit_; }
  const std::uint8_t* data() const noexcept { return bytes_.get(); }
  std::size_t size() const noexcept { return size_; }
  std::span<const std::uint8_t> view() const noexcept { return {data(), size_}; }

 private:
  // TLS records fit.
  static constexpr std::size_t largest_kept = std::size_t{32} << 10;

  bool grow(std::size_t more) noexcept;
  void give_back() noexcept;

  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // at most limit_
  std::size_t limit_ = 0;
  std::size_t dirty_ = 0;  // so many bytes may hold a message, this or an earlier one
};

}  // namespace kaccel
