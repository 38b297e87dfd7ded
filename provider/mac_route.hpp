// What all HMAC contexts share: OpenSSL's functions, and for each digest its driver.
#pragma once

#include <openssl/types.h>

#include <array>

#include "kernel-bridge/driver_health.hpp"
#include "kernel-bridge/session_pool.hpp"
#include "provider/algorithms.hpp"
#include "provider/mac_functions.hpp"
#include "provider/routing.hpp"

namespace kaccel {

struct UsageCounters;

// Lives as long as the provider.
struct MacRoute {
  struct Digest {
    const char* name = nullptr;   // one of them, by which OpenSSL is asked for it
    const char* names = nullptr;  // OpenSSL's, separated by colons; nullptr: OpenSSL has it not
    kernel::BoundDriver driver;
    Threshold threshold = never_hardware;
    UsageCounters* counters = nullptr;
  };

  MacFunctions software;
  void* software_provider_context = nullptr;
  OSSL_LIB_CTX* library_context = nullptr;  // of the software
  std::array<Digest, mac_count> digests;    // in the order of algorithm_table
  kernel::SessionPool* pool = nullptr;

  // The digest that an application calls so, or nullptr where there is no route for it.
  Digest* find(const char* name) noexcept;
};

bool has_mac_route(const MacRoute::Digest& digest) noexcept;

}  // namespace kaccel
