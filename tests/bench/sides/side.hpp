// What is compared: one way to have a message ciphered or authenticated. A peer is one file with a
// Side and a factory in sides.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "kernel-bridge/algorithm.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::bench {

inline constexpr std::size_t gcm_tag_size = 16;
inline constexpr std::size_t gcm_aad_size = 13;  // as TLS 1.2 has it; zeros here

enum class Manner : std::uint8_t {
  long_lived,   // key set once; a message is IV, data and, for GCM, AAD and tag
  new_context,  // context, key, one message, free; sockets and handles likewise
};

// One message, the same for all sides. The spans outlive the operations made for it.
struct Message {
  const Algorithm& algorithm;
  kernel::Direction direction;
  std::span<const std::uint8_t> key;
  std::span<const std::uint8_t> iv;     // empty for ECB and HMAC
  std::span<const std::uint8_t> input;  // page-aligned
  std::span<std::uint8_t> tag;          // of GCM: written when encrypting, expected when decrypting
  std::span<std::uint8_t> output;       // page-aligned; as long as the input, or as the digest

  bool encrypts() const { return direction == kernel::Direction::encrypt; }
};

// Handles the message once. Throws std::runtime_error where the side fails.
using Operation = std::function<void()>;

class Side {
 public:
  virtual ~Side() = default;

  // As in the JSON: "default", "kaccel", "libkcapi".
  virtual std::string name() const = 0;

  // Empty where the side does not have the algorithm. Throws std::runtime_error where it should but
  // fails. What was opened is freed with the operation.
  virtual Operation make_operation(const Message& message, Manner manner) = 0;
};

}  // namespace kaccel::bench
