#include "calibrate/mac_stream.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>
#include <string>

namespace kaccel::calibrate {

MacStream::MacStream(const OpensslContext& context, const Algorithm& algorithm,
                     std::span<const std::uint8_t> key)
    : mac_(EVP_MAC_fetch(context.get(), "HMAC", nullptr)),
      context_(mac_ ? EVP_MAC_CTX_new(mac_.get()) : nullptr),
      digest_size_(kernel::info(algorithm.kernel_algorithm).digest_size) {
  if (!context_) throw OpensslError("no HMAC");
  std::string digest(digest_name(algorithm));
  const std::array params{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), digest.size()),
      OSSL_PARAM_construct_end()};
  if (EVP_MAC_init(context_.get(), key.data(), key.size(), params.data()) != 1) {
    throw OpensslError(std::string("cannot start ") + algorithm.name);
  }
}

void MacStream::restart() {
  if (EVP_MAC_init(context_.get(), nullptr, 0, nullptr) != 1) {
    throw OpensslError("a message cannot be begun");
  }
}

void MacStream::update(const std::uint8_t* data, std::size_t size) {
  if (EVP_MAC_update(context_.get(), data, size) != 1) throw OpensslError("an update failed");
}

void MacStream::finish(std::span<std::uint8_t> result) {
  std::size_t written = 0;
  if (EVP_MAC_final(context_.get(), result.data(), &written, result.size()) != 1 ||
      written != result.size()) {
    throw OpensslError("no result came");
  }
}

std::vector<std::uint8_t> MacStream::mac_of(std::span<const std::uint8_t> message) {
  std::vector<std::uint8_t> result(digest_size_);
  restart();
  update(message.data(), message.size());
  finish(result);
  return result;
}

}  // namespace kaccel::calibrate
