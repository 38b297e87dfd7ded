// What kaccel did, for OSSL_PROVIDER_get_params (see provider_params.cpp).
#pragma once

#include <atomic>
#include <cstdint>

namespace kaccel {

struct UsageCounters {
  std::atomic<std::uint64_t> hardware_calls{0};  // calls answered by hardware to the end
  std::atomic<std::uint64_t> hardware_bytes{0};
  std::atomic<std::uint64_t> fallbacks{0};  // calls that hardware failed and software finished
};

}  // namespace kaccel
