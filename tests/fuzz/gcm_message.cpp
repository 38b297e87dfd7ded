#include "tests/fuzz/gcm_message.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>

#include "tests/support/evp.hpp"

namespace kaccel::fuzzing {
namespace {

constexpr std::size_t tag_size = 16;

Bytes tag_of(EVP_CIPHER_CTX* context) {
  Bytes tag(tag_size);
  int written = 0;
  std::array<std::uint8_t, tag_size> nothing{};
  const bool ok = EVP_CipherFinal_ex(context, nothing.data(), &written) == 1 &&
                  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size, tag.data()) == 1;
  return ok ? tag : Bytes{};
}

}  // namespace

// OpenSSL hashes the ciphertext in either direction, so a copy that is turned round in mid-message
// tells the tag.
Bytes right_tag(const EVP_CIPHER_CTX* context, const Bytes& more) {
  const testing::CipherContextPointer copy(EVP_CIPHER_CTX_new());
  if (EVP_CIPHER_CTX_copy(copy.get(), context) != 1) return {};
  Bytes text(more.size() + tag_size);
  int written = 0;
  if (!more.empty() && EVP_CipherUpdate(copy.get(), text.data(), &written, more.data(),
                                        static_cast<int>(more.size())) != 1) {
    return {};
  }
  if (EVP_CipherInit_ex2(copy.get(), nullptr, nullptr, nullptr, 1, nullptr) != 1) return {};
  return tag_of(copy.get());
}

Sealed seal(const EVP_CIPHER* cipher, const Bytes& key, const Bytes& iv, const Bytes& aad,
            const Bytes& text) {
  const testing::CipherContextPointer context(EVP_CIPHER_CTX_new());
  std::size_t iv_size = iv.size();
  const std::array params{OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &iv_size),
                          OSSL_PARAM_construct_end()};
  Sealed sealed{Bytes(text.size() + tag_size), {}};
  int written = 0;
  if (EVP_EncryptInit_ex2(context.get(), cipher, key.data(), iv.data(), params.data()) != 1 ||
      EVP_EncryptUpdate(context.get(), nullptr, &written, aad.data(),
                        static_cast<int>(aad.size())) != 1 ||
      EVP_EncryptUpdate(context.get(), sealed.text.data(), &written, text.data(),
                        static_cast<int>(text.size())) != 1) {
    return {};
  }
  sealed.text.resize(text.size());
  sealed.tag = tag_of(context.get());
  return sealed;
}

}  // namespace kaccel::fuzzing
