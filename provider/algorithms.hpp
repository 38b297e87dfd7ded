// The algorithms kaccel offers: one row each. To add one, add a row (and, for a new kind, its
// functions).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernel-bridge/algorithm.hpp"

namespace kaccel {

// How an algorithm's data may be cut, and so which context serves it.
enum class Kind : std::uint8_t {
  blocks,      // ECB, CBC, CTR: anywhere between blocks (CipherContext)
  data_units,  // XTS: nowhere (XtsContext)
  gcm,         // CTR by the driver, GHASH by OpenSSL (GcmContext)
  hmac,        // a whole message at a time (HmacContext)
};

struct Algorithm {
  // OpenSSL's first name; aliases and OIDs are OpenSSL's own. OpenSSL has one MAC "HMAC" for all
  // digests, so the names of those rows are kaccel's, as `openssl speed` and TLS write them.
  const char* name;
  // What the driver is asked for. GCM asks for CTR: no driver of a known device registers
  // gcm(aes), and AF_ALG's AEAD sockets are not wanted. One that does would have rows of its own.
  kernel::Algorithm kernel_algorithm;
  std::size_t key_size;  // bytes, as OpenSSL takes it; 0: any
  Kind kind;
};

// clang-format off
inline constexpr std::array algorithm_table{
    Algorithm{"AES-128-ECB", kernel::Algorithm::ecb_aes, 16, Kind::blocks},
    Algorithm{"AES-192-ECB", kernel::Algorithm::ecb_aes, 24, Kind::blocks},
    Algorithm{"AES-256-ECB", kernel::Algorithm::ecb_aes, 32, Kind::blocks},
    Algorithm{"AES-128-CBC", kernel::Algorithm::cbc_aes, 16, Kind::blocks},
    Algorithm{"AES-192-CBC", kernel::Algorithm::cbc_aes, 24, Kind::blocks},
    Algorithm{"AES-256-CBC", kernel::Algorithm::cbc_aes, 32, Kind::blocks},
    Algorithm{"AES-128-CTR", kernel::Algorithm::ctr_aes, 16, Kind::blocks},
    Algorithm{"AES-192-CTR", kernel::Algorithm::ctr_aes, 24, Kind::blocks},
    Algorithm{"AES-256-CTR", kernel::Algorithm::ctr_aes, 32, Kind::blocks},
    Algorithm{"AES-128-XTS", kernel::Algorithm::xts_aes, 32, Kind::data_units},
    Algorithm{"AES-256-XTS", kernel::Algorithm::xts_aes, 64, Kind::data_units},
    Algorithm{"AES-128-GCM", kernel::Algorithm::ctr_aes, 16, Kind::gcm},
    Algorithm{"AES-192-GCM", kernel::Algorithm::ctr_aes, 24, Kind::gcm},
    Algorithm{"AES-256-GCM", kernel::Algorithm::ctr_aes, 32, Kind::gcm},
    Algorithm{"DES-ECB",      kernel::Algorithm::ecb_des,       8, Kind::blocks},
    Algorithm{"DES-CBC",      kernel::Algorithm::cbc_des,       8, Kind::blocks},
    Algorithm{"DES-EDE-ECB",  kernel::Algorithm::ecb_des3_ede, 16, Kind::blocks},
    Algorithm{"DES-EDE-CBC",  kernel::Algorithm::cbc_des3_ede, 16, Kind::blocks},
    Algorithm{"DES-EDE3-ECB", kernel::Algorithm::ecb_des3_ede, 24, Kind::blocks},
    Algorithm{"DES-EDE3-CBC", kernel::Algorithm::cbc_des3_ede, 24, Kind::blocks},
    Algorithm{"HMAC-MD5",    kernel::Algorithm::hmac_md5,    0, Kind::hmac},
    Algorithm{"HMAC-SHA1",   kernel::Algorithm::hmac_sha1,   0, Kind::hmac},
    Algorithm{"HMAC-SHA224", kernel::Algorithm::hmac_sha224, 0, Kind::hmac},
    Algorithm{"HMAC-SHA256", kernel::Algorithm::hmac_sha256, 0, Kind::hmac},
    Algorithm{"HMAC-SHA384", kernel::Algorithm::hmac_sha384, 0, Kind::hmac},
    Algorithm{"HMAC-SHA512", kernel::Algorithm::hmac_sha512, 0, Kind::hmac},
};
// clang-format on

constexpr bool is_mac(const Algorithm& algorithm) noexcept {
  return algorithm.kind == Kind::hmac;
}

// The ciphers are the first rows, the MACs the rest.
inline constexpr std::size_t cipher_count = [] {
  std::size_t count = 0;
  while (count < algorithm_table.size() && !is_mac(algorithm_table[count])) ++count;
  return count;
}();
inline constexpr std::size_t mac_count = algorithm_table.size() - cipher_count;

// The kernel knows 3DES with three keys only: two-key 3DES is K1 K2 K1.
constexpr bool is_two_key_des(const Algorithm& algorithm) noexcept {
  return algorithm.key_size == 16 &&
         (algorithm.kernel_algorithm == kernel::Algorithm::ecb_des3_ede ||
          algorithm.kernel_algorithm == kernel::Algorithm::cbc_des3_ede);
}

// Bytes of the key as the driver takes it.
constexpr std::size_t driver_key_size(const Algorithm& algorithm) noexcept {
  return is_two_key_des(algorithm) ? 24 : algorithm.key_size;
}

// The digest of an HMAC row, by the name that OpenSSL knows: "SHA256" of "HMAC-SHA256".
constexpr std::string_view digest_name(const Algorithm& algorithm) noexcept {
  return std::string_view(algorithm.name).substr(std::string_view("HMAC-").size());
}

// The row's index for a name of the table in any letter case, or algorithm_table.size().
std::size_t find_algorithm(std::string_view name) noexcept;

}  // namespace kaccel
