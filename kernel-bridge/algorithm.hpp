// The kernel algorithms kaccel can use, in the kernel's own terms.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kaccel::kernel {

// One kernel algorithm (crypto API template instance). The key size is not part of it.
enum class Algorithm : std::uint8_t {
  ecb_aes,
  cbc_aes,
  ctr_aes,
  xts_aes,
  ecb_des,
  cbc_des,
  ecb_des3_ede,
  cbc_des3_ede,
  hmac_md5,
  hmac_sha1,
  hmac_sha224,
  hmac_sha256,
  hmac_sha384,
  hmac_sha512,
};
inline constexpr std::size_t algorithm_count = 14;

// Which way a cipher request goes. A hash request has no direction and says `encrypt`.
enum class Direction : std::uint8_t { decrypt, encrypt };

// How the chaining value changes with the data; decides what kaccel computes itself, since AF_ALG
// never returns an IV.
enum class Chaining : std::uint8_t { none, cbc, ctr, xts, hash };

struct AlgorithmInfo {
  Algorithm id;
  const char* kernel_name;  // as in the "name" field of /proc/crypto, e.g. "cbc(aes)"
  const char* socket_type;  // sockaddr_alg.salg_type: "skcipher" or "hash"
  Chaining chaining;
  std::uint8_t block_size;       // bytes; the unit in which requests may be split
  std::uint8_t iv_size;          // bytes; 0 where there is none
  std::uint8_t digest_size;      // bytes of a hash's result; 0 for a cipher
  std::uint8_t hash_block_size;  // bytes; a longer HMAC key is hashed first (RFC 2104)
};

// Never fails: every enumerator has a row.
const AlgorithmInfo& info(Algorithm algorithm) noexcept;

// Looks up a kernel name such as "cbc(aes)". Returns nullptr when kaccel does not use it.
const AlgorithmInfo* find_algorithm(const char* kernel_name) noexcept;

inline constexpr std::size_t max_iv_size = 16;
inline constexpr std::size_t max_digest_size = 64;
inline constexpr std::size_t max_key_size = 128;  // an HMAC-SHA512 key of one block

}  // namespace kaccel::kernel
