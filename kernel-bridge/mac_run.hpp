// Runs one whole message through a driver's keyed hash.
#pragma once

#include <cstdint>
#include <span>

#include "kernel-bridge/driver_health.hpp"
#include "kernel-bridge/session_pool.hpp"
#include "kernel-bridge/status.hpp"

namespace kaccel::kernel {

struct MacWork {
  BoundDriver& driver;
  std::span<const std::uint8_t> key;      // 1 to max_key_size bytes
  std::span<const std::uint8_t> message;  // at least 1 byte, at most the driver's max_size
  std::span<std::uint8_t> result;         // AlgorithmInfo::digest_size bytes, whole or untouched
};

// Also keeps the driver's health.
Status run_mac(SessionPool& pool, SessionPool::Handle& handle, const MacWork& work) noexcept;

}  // namespace kaccel::kernel
