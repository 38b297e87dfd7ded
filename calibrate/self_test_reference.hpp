// What a driver must compute, at many lengths, for the price of one long computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/openssl_context.hpp"
#include "calibrate/random_bytes.hpp"

namespace kaccel::calibrate {

// A message and its ciphertext by OpenSSL, of which any part is a message of its own.
class CipherReference {
 public:
  struct Part {
    std::vector<std::uint8_t> iv;
    std::span<const std::uint8_t> plaintext;
    std::span<const std::uint8_t> ciphertext;
  };

  // `algorithm`: one that a driver computes, not GCM. `longest`: bytes, whole blocks. Throws
  // OpensslError.
  CipherReference(const OpensslContext& software, const Algorithm& algorithm,
                  std::span<const std::uint8_t> key, std::size_t longest, RandomBytes& random);

  // `length`: whole blocks, at most `longest`. Parts that follow each other differ from the first
  // block on, so that an answer to the one before is not taken for the right one. A part lives as
  // long as the reference.
  Part part(std::size_t length);

  std::size_t longest() const noexcept { return longest_; }

 private:
  using Bytes = std::vector<std::uint8_t>;
  struct Message {
    Bytes iv;
    Bytes plaintext;
    Bytes ciphertext;
  };

  void add_message(const OpensslContext& software, const Algorithm& algorithm,
                   std::span<const std::uint8_t> key, std::size_t length, RandomBytes& random);
  Bytes iv_at(const Message& message, std::size_t offset) const;

  const kernel::AlgorithmInfo& info_;
  std::size_t longest_;
  // One, whose parts begin at different blocks. XTS: two, since its parts must begin where the
  // message does, of which the second serves the shorter parts.
  std::vector<Message> messages_;
  std::size_t parts_ = 0;
};

// Adds to a big-endian number, as CTR counts.
void add_to_counter(std::vector<std::uint8_t>& counter, std::uint64_t blocks);

}  // namespace kaccel::calibrate
