#include "calibrate/gcm_stream.hpp"

#include <array>
#include <string>

namespace kaccel::calibrate {

GcmStream::GcmStream(const OpensslContext& context, const char* algorithm,
                     kernel::Direction direction, std::span<const std::uint8_t> key)
    : cipher_(EVP_CIPHER_fetch(context.get(), algorithm, nullptr)), context_(EVP_CIPHER_CTX_new()) {
  if (!cipher_) throw OpensslError(std::string("no cipher ") + algorithm);
  const int encrypt = direction == kernel::Direction::encrypt ? 1 : 0;
  if (!context_ || EVP_CipherInit_ex2(context_.get(), cipher_.get(), key.data(), nullptr, encrypt,
                                      nullptr) != 1) {
    throw OpensslError(std::string("cannot start ") + algorithm);
  }
}

void GcmStream::begin(std::span<const std::uint8_t, iv_size> iv,
                      std::span<const std::uint8_t> aad) {
  constexpr int same_direction = -1;
  int taken = 0;
  if (EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, iv.data(), same_direction, nullptr) !=
          1 ||
      (!aad.empty() && EVP_CipherUpdate(context_.get(), nullptr, &taken, aad.data(),
                                        static_cast<int>(aad.size())) != 1)) {
    throw OpensslError("a message cannot be begun");
  }
}

void GcmStream::update(const std::uint8_t* input, std::size_t size, std::uint8_t* output) {
  int written = 0;
  if (EVP_CipherUpdate(context_.get(), output, &written, input, static_cast<int>(size)) != 1 ||
      static_cast<std::size_t>(written) != size) {
    throw OpensslError("an update failed");
  }
}

void GcmStream::take_tag(std::span<std::uint8_t, tag_size> tag) {
  std::array<std::uint8_t, EVP_MAX_BLOCK_LENGTH> nothing{};
  int written = 0;
  if (EVP_CipherFinal_ex(context_.get(), nothing.data(), &written) != 1 ||
      EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag.size()),
                          tag.data()) != 1) {
    throw OpensslError("no tag came");
  }
}

void GcmStream::check_tag(std::span<const std::uint8_t, tag_size> tag) {
  std::array<std::uint8_t, tag_size> expected{};  // the control takes no pointer to const
  std::copy(tag.begin(), tag.end(), expected.begin());
  std::array<std::uint8_t, EVP_MAX_BLOCK_LENGTH> nothing{};
  int written = 0;
  if (EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(expected.size()),
                          expected.data()) != 1 ||
      EVP_CipherFinal_ex(context_.get(), nothing.data(), &written) != 1) {
    throw OpensslError("the right tag was refused");
  }
}

}  // namespace kaccel::calibrate
