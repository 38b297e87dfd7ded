// HMAC on one long-lived EVP context: message after message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "calibrate/openssl_context.hpp"

namespace kaccel::calibrate {

// Every function throws OpensslError.
class MacStream {
 public:
  // `algorithm`: an HMAC row of the table. The key may have any size.
  MacStream(const OpensslContext& context, const Algorithm& algorithm,
            std::span<const std::uint8_t> key);

  // Begins the next message under the same key. The first one is begun already.
  void restart();
  void update(const std::uint8_t* data, std::size_t size);
  // Ends the message. `result` has the digest's size.
  void finish(std::span<std::uint8_t> result);

  // One message from its beginning to its end.
  std::vector<std::uint8_t> mac_of(std::span<const std::uint8_t> message);

 private:
  struct FreeMac {
    void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
    void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
  };

  std::unique_ptr<EVP_MAC, FreeMac> mac_;
  std::unique_ptr<EVP_MAC_CTX, FreeMac> context_;
  std::size_t digest_size_;
};

}  // namespace kaccel::calibrate
