// What kaccel did, for OSSL_PROVIDER_get_params (provider_params.cpp) and for the statistics file
// (statistics_file.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "kernel-bridge/session_pool.hpp"
#include "provider/algorithms.hpp"

namespace kaccel {

struct UsageCounters {
  std::atomic<std::uint64_t> hardware_calls{0};  // calls answered by hardware to the end
  std::atomic<std::uint64_t> hardware_bytes{0};
  std::atomic<std::uint64_t> fallbacks{0};  // calls that hardware failed and software finished
};

struct Counters {
  kernel::SessionPool::Totals sessions;
  std::array<UsageCounters, algorithm_table.size()> algorithms;  // in the order of the table
};

}  // namespace kaccel
