// The algorithms kaccel offers: one row each. To add one, add a row (and, for a new operation, its
// functions).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "kernel-bridge/algorithm.hpp"

namespace kaccel {

struct CipherAlgorithm {
  const char* name;  // OpenSSL's first name; aliases and OIDs are the default provider's own
  kernel::Algorithm kernel_algorithm;
  std::size_t key_size;  // bytes
};

// clang-format off
inline constexpr std::array cipher_algorithms{
    CipherAlgorithm{"AES-128-ECB", kernel::Algorithm::ecb_aes, 16},
    CipherAlgorithm{"AES-192-ECB", kernel::Algorithm::ecb_aes, 24},
    CipherAlgorithm{"AES-256-ECB", kernel::Algorithm::ecb_aes, 32},
    CipherAlgorithm{"AES-128-CBC", kernel::Algorithm::cbc_aes, 16},
    CipherAlgorithm{"AES-192-CBC", kernel::Algorithm::cbc_aes, 24},
    CipherAlgorithm{"AES-256-CBC", kernel::Algorithm::cbc_aes, 32},
    CipherAlgorithm{"AES-128-CTR", kernel::Algorithm::ctr_aes, 16},
    CipherAlgorithm{"AES-192-CTR", kernel::Algorithm::ctr_aes, 24},
    CipherAlgorithm{"AES-256-CTR", kernel::Algorithm::ctr_aes, 32},
};
// clang-format on

// The row's index for OpenSSL's name in any letter case, or cipher_algorithms.size().
std::size_t find_cipher_algorithm(std::string_view name) noexcept;

}  // namespace kaccel
