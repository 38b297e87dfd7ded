#include "timed_operation.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace kaccel::bench {
namespace {

// The same page-aligned buffers for every cell: how many pages a request touches is part of what
// the kernel charges for it, and must not depend on where a vector happened to lie.
constexpr std::size_t page = 4096;
alignas(page) unsigned char input[largest_size + page];
alignas(page) unsigned char output[largest_size + page];

constexpr std::size_t tag_size = 16;
constexpr std::size_t iv_size = 12;
constexpr std::size_t tls_overhead = 8 + tag_size;
constexpr std::string_view tls_suffix = "/TLS1.2";
using Aad = std::array<unsigned char, 13>;

struct Free {
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using Context = std::shared_ptr<EVP_CIPHER_CTX>;

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

// Different bytes, so that no two parts of an XTS or 3DES key are equal.
std::array<unsigned char, 64> key_bytes() {
  std::array<unsigned char, 64> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(0x2b + 3 * i);
  return key;
}

Context keyed(OSSL_LIB_CTX* library, const std::string& algorithm, bool encrypt) {
  const std::unique_ptr<EVP_CIPHER, Free> cipher(
      EVP_CIPHER_fetch(library, algorithm.c_str(), nullptr));
  Context context(EVP_CIPHER_CTX_new(), Free{});
  const auto key = key_bytes();
  const std::array<unsigned char, 16> iv{1};
  require(cipher != nullptr && context != nullptr &&
              EVP_CipherInit_ex2(context.get(), cipher.get(), key.data(), iv.data(),
                                 encrypt ? 1 : 0, nullptr) == 1 &&
              EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1,
          "the cipher cannot be set up");
  return context;
}

std::function<void()> one_update(OSSL_LIB_CTX* library, const std::string& algorithm, bool encrypt,
                                 std::size_t size) {
  return [context = keyed(library, algorithm, encrypt), size] {
    int written = 0;
    require(EVP_CipherUpdate(context.get(), output, &written, input, static_cast<int>(size)) == 1,
            "update failed");
  };
}

void gcm_message(EVP_CIPHER_CTX* context, unsigned char* out, const unsigned char* in,
                 std::size_t size, unsigned char* tag) {
  const std::array<unsigned char, iv_size> iv{7};
  const Aad aad{};
  int written = 0;
  const bool encrypts = EVP_CIPHER_CTX_is_encrypting(context) == 1;
  const auto tag_call = [&](int command) {
    return EVP_CIPHER_CTX_ctrl(context, command, tag_size, tag) == 1;
  };
  require(EVP_CipherInit_ex2(context, nullptr, nullptr, iv.data(), -1, nullptr) == 1 &&
              (encrypts || tag_call(EVP_CTRL_AEAD_SET_TAG)) &&
              EVP_CipherUpdate(context, nullptr, &written, aad.data(), aad.size()) == 1 &&
              EVP_CipherUpdate(context, out, &written, in, static_cast<int>(size)) == 1 &&
              EVP_CipherFinal_ex(context, out, &written) == 1 &&
              (!encrypts || tag_call(EVP_CTRL_AEAD_GET_TAG)),
          "the message failed");
}

std::function<void()> one_gcm_message(OSSL_LIB_CTX* library, const std::string& algorithm,
                                      bool encrypt, std::size_t size) {
  struct Prepared {
    std::vector<unsigned char> ciphertext;
    std::array<unsigned char, tag_size> tag{};
  };
  auto prepared = std::make_shared<Prepared>();
  prepared->ciphertext.resize(size);
  gcm_message(keyed(library, algorithm, true).get(), prepared->ciphertext.data(), input, size,
              prepared->tag.data());
  return [context = keyed(library, algorithm, encrypt), prepared, size, encrypt] {
    if (!encrypt) std::memcpy(input, prepared->ciphertext.data(), size);
    gcm_message(context.get(), output, input, size, prepared->tag.data());
  };
}

// Type 23, TLS 1.2, and the length that libssl gives: explicit IV and text, on reception the tag
// too.
Aad tls_header(std::size_t size, bool encrypt) {
  const std::size_t length = size + 8 + (encrypt ? 0 : tag_size);
  return {0,
          0,
          0,
          0,
          0,
          0,
          0,
          1,
          0x17,
          0x03,
          0x03,
          static_cast<unsigned char>(length >> 8),
          static_cast<unsigned char>(length)};
}

void tls_record(EVP_CIPHER_CTX* context, unsigned char* record, std::size_t size, bool encrypt) {
  Aad aad = tls_header(size, encrypt);
  require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_TLS1_AAD, aad.size(), aad.data()) > 0 &&
              EVP_Cipher(context, record, record, static_cast<unsigned>(size + tls_overhead)) >= 0,
          "the record failed");
}

Context keyed_for_tls(OSSL_LIB_CTX* library, const std::string& algorithm, bool encrypt) {
  Context context = keyed(library, algorithm, encrypt);
  std::array<unsigned char, 4> fixed{1, 2, 3, 4};
  require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_IV_FIXED, fixed.size(),
                              fixed.data()) == 1,
          "the fixed IV cannot be set");
  return context;
}

std::function<void()> one_tls_record(OSSL_LIB_CTX* library, const std::string& algorithm,
                                     bool encrypt, std::size_t size) {
  auto record = std::make_shared<std::vector<unsigned char>>(size + tls_overhead, 0x5a);
  tls_record(keyed_for_tls(library, algorithm, true).get(), record->data(), size, true);
  return [context = keyed_for_tls(library, algorithm, encrypt), record, size, encrypt] {
    std::memcpy(output, record->data(), record->size());
    tls_record(context.get(), output, size, encrypt);
  };
}

std::function<void()> one_mac(OSSL_LIB_CTX* library, const std::string& algorithm,
                              std::size_t size) {
  const std::unique_ptr<EVP_MAC, Free> mac(EVP_MAC_fetch(library, "HMAC", nullptr));
  const std::shared_ptr<EVP_MAC_CTX> context(EVP_MAC_CTX_new(mac.get()), Free{});
  std::string digest = algorithm.substr(std::strlen("HMAC-"));
  const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                          OSSL_PARAM_construct_end()};
  const auto key = key_bytes();
  require(context != nullptr && EVP_MAC_init(context.get(), key.data(), 32, params.data()) == 1,
          "the MAC cannot be set up");
  return [context, size] {
    std::size_t written = 0;
    require(EVP_MAC_init(context.get(), nullptr, 0, nullptr) == 1 &&
                EVP_MAC_update(context.get(), input, size) == 1 &&
                EVP_MAC_final(context.get(), output, &written, EVP_MAX_MD_SIZE) == 1,
            "the MAC failed");
  };
}

}  // namespace

std::function<void()> timed_operation(OSSL_LIB_CTX* library, const std::string& algorithm,
                                      bool encrypt, std::size_t size) {
  if (algorithm.starts_with("HMAC-")) return one_mac(library, algorithm, size);
  if (algorithm.ends_with(tls_suffix)) {
    const std::string cipher = algorithm.substr(0, algorithm.size() - tls_suffix.size());
    return one_tls_record(library, cipher, encrypt, size);
  }
  if (algorithm.ends_with("-GCM")) return one_gcm_message(library, algorithm, encrypt, size);
  return one_update(library, algorithm, encrypt, size);
}

unsigned char* input_buffer() {
  return input;
}

unsigned char* output_buffer() {
  return output;
}

}  // namespace kaccel::bench
