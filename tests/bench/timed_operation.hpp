// What is timed: one operation of an algorithm as applications do it, on long-lived objects.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace kaccel::bench {

inline constexpr std::size_t largest_size = std::size_t{1} << 20;

// By the algorithm's name:
//   AES-128-CBC, AES-256-XTS, ...   one EVP_CipherUpdate without padding
//   AES-128-GCM                     a message: IV, 13 bytes of AAD, one update, the tag
//   AES-128-GCM/TLS1.2              a record in place, as libssl does it (RFC 5288)
//   HMAC-SHA256                     a message under the same key
// `size` in bytes, at most largest_size. Throws std::runtime_error when OpenSSL will not, and the
// operation does so too.
std::function<void()> timed_operation(OSSL_LIB_CTX* library, const std::string& algorithm,
                                      bool encrypt, std::size_t size);

// The buffers that every operation works on.
unsigned char* input_buffer();
unsigned char* output_buffer();

}  // namespace kaccel::bench
