// What the contexts of one cipher share: both sides and the choice between them.
#pragma once

#include <cstddef>

#include "kernel-bridge/driver_health.hpp"
#include "kernel-bridge/session_pool.hpp"
#include "provider/cipher_functions.hpp"
#include "provider/routing.hpp"

namespace kaccel {

struct UsageCounters;

// Lives as long as the provider.
struct CipherRoute {
  CipherFunctions software;
  void* software_provider_context = nullptr;
  kernel::BoundDriver driver;
  std::size_t key_size = 0;          // bytes, as the driver takes it
  bool two_key_des = false;          // OpenSSL's key is K1 K2, the driver's K1 K2 K1
  bool ciphertext_stealing = false;  // XTS: the driver may see units that are not whole blocks
  Threshold encrypt = never_hardware;
  Threshold decrypt = never_hardware;
  kernel::SessionPool* pool = nullptr;
  UsageCounters* counters = nullptr;
  // GCM only: the route of its data, with OpenSSL's CTR as software. nullptr where that is missing.
  CipherRoute* counter_mode = nullptr;

  Threshold threshold(kernel::Direction direction) const noexcept {
    return direction == kernel::Direction::encrypt ? encrypt : decrypt;
  }
};

}  // namespace kaccel
