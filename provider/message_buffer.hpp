// The bytes of a message that is not yet sent anywhere. Wiped when cleared: a key derivation's
// input is as secret as a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace kaccel {

class MessageBuffer {
 public:
  MessageBuffer() = default;
  MessageBuffer(const MessageBuffer&) = delete;
  MessageBuffer& operator=(const MessageBuffer&) = delete;
  ~MessageBuffer();

  // False, with the buffer as it was, when memory is out.
  [[nodiscard]] bool append(std::span<const std::uint8_t> bytes) noexcept;
  void clear() noexcept;

  std::span<const std::uint8_t> view() const noexcept { return {bytes_.get(), size_}; }
  std::size_t size() const noexcept { return size_; }

 private:
  bool reserve(std::size_t capacity) noexcept;

  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace kaccel
