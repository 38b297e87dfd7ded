// A cipher key in the form that the driver takes.
#pragma once

#include <cstdint>
#include <span>

#include "kernel-bridge/secret.hpp"
#include "provider/cipher_route.hpp"

namespace kaccel {

// `key`: as OpenSSL was given it, of the algorithm's size. Empty where the driver must not see it.
kernel::SecretKey driver_key(const CipherRoute& route, std::span<const std::uint8_t> key) noexcept;

}  // namespace kaccel
