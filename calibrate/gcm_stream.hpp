// AES-GCM as TLS and most others use it: one key, and for each message an IV of 12 bytes, some AAD,
// and a tag of 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "calibrate/openssl_context.hpp"

namespace kaccel::calibrate {

// Every function throws OpensslError.
class GcmStream {
 public:
  static constexpr std::size_t iv_size = 12;
  static constexpr std::size_t tag_size = 16;

  GcmStream(const OpensslContext& context, const char* algorithm, kernel::Direction direction,
            std::span<const std::uint8_t> key);

  // Begins a message.
  void begin(std::span<const std::uint8_t, iv_size> iv, std::span<const std::uint8_t> aad);

  // Writes `size` bytes; `output` may be `input`.
  void update(const std::uint8_t* input, std::size_t size, std::uint8_t* output);

  // Ends an encrypted message.
  void take_tag(std::span<std::uint8_t, tag_size> tag);
  // Ends a decrypted message. A tag that is not the message's is an error.
  void check_tag(std::span<const std::uint8_t, tag_size> tag);

 private:
  std::unique_ptr<EVP_CIPHER, FreeCipher> cipher_;
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context_;
};

}  // namespace kaccel::calibrate
