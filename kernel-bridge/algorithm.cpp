#include "kernel-bridge/algorithm.hpp"

#include <array>
#include <cstring>

namespace kaccel::kernel {
namespace {

// clang-format off
constexpr std::array<AlgorithmInfo, algorithm_count> table{{
    {Algorithm::ecb_aes,      "ecb(aes)",      "skcipher", Chaining::none, 16,  0,  0,   0},
    {Algorithm::cbc_aes,      "cbc(aes)",      "skcipher", Chaining::cbc,  16, 16,  0,   0},
    {Algorithm::ctr_aes,      "ctr(aes)",      "skcipher", Chaining::ctr,  16, 16,  0,   0},
    {Algorithm::xts_aes,      "xts(aes)",      "skcipher", Chaining::xts,  16, 16,  0,   0},
    {Algorithm::ecb_des,      "ecb(des)",      "skcipher", Chaining::none,  8,  0,  0,   0},
    {Algorithm::cbc_des,      "cbc(des)",      "skcipher", Chaining::cbc,   8,  8,  0,   0},
    {Algorithm::ecb_des3_ede, "ecb(des3_ede)", "skcipher", Chaining::none,  8,  0,  0,   0},
    {Algorithm::cbc_des3_ede, "cbc(des3_ede)", "skcipher", Chaining::cbc,   8,  8,  0,   0},
    {Algorithm::hmac_md5,     "hmac(md5)",     "hash",     Chaining::hash,  1,  0, 16,  64},
    {Algorithm::hmac_sha1,    "hmac(sha1)",    "hash",     Chaining::hash,  1,  0, 20,  64},
    {Algorithm::hmac_sha224,  "hmac(sha224)",  "hash",     Chaining::hash,  1,  0, 28,  64},
    {Algorithm::hmac_sha256,  "hmac(sha256)",  "hash",     Chaining::hash,  1,  0, 32,  64},
    {Algorithm::hmac_sha384,  "hmac(sha384)",  "hash",     Chaining::hash,  1,  0, 48, 128},
    {Algorithm::hmac_sha512,  "hmac(sha512)",  "hash",     Chaining::hash,  1,  0, 64, 128},
}};
// clang-format on

constexpr bool rows_are_in_enum_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].id) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_enum_order(), "info() indexes the table by enumerator");

}  // namespace

const AlgorithmInfo& info(Algorithm algorithm) noexcept {
  return table[static_cast<std::size_t>(algorithm)];
}

const AlgorithmInfo* find_algorithm(const char* kernel_name) noexcept {
  for (const auto& row : table) {
    if (std::strcmp(row.kernel_name, kernel_name) == 0) return &row;
  }
  return nullptr;
}

}  // namespace kaccel::kernel
