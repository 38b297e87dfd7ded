#include "kernel-bridge/driver_health.hpp"

#include <algorithm>

namespace kaccel::kernel {
namespace {

enum class Kind { permanent, passing, of_the_call, counts };

Kind kind_of(Failure failure) noexcept {
  switch (failure) {
    case Failure::no_af_alg:
    case Failure::denied:
    case Failure::no_driver:
    case Failure::sandboxed:
      return Kind::permanent;
    case Failure::bad_key:
    case Failure::thread_sandboxed:
      return Kind::of_the_call;
    case Failure::no_descriptors:
    case Failure::no_memory:
    case Failure::pool_exhausted:
    case Failure::descriptor_lost:
      return Kind::passing;
    default:
      return Kind::counts;
  }
}

constexpr std::uint32_t most_skips = 1023;

}  // namespace

bool DriverHealth::may_try() noexcept {
  if (is_out()) return false;
  std::uint32_t left = to_skip_.load(std::memory_order_relaxed);
  while (left != 0) {
    if (to_skip_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) return false;
  }
  return true;
}

void DriverHealth::succeeded() noexcept {
  // Nearly always zero already: a store would bounce the cache line between cores for nothing.
  if (failures_.load(std::memory_order_relaxed) != 0) {
    failures_.store(0, std::memory_order_relaxed);
  }
  if (shortages_.load(std::memory_order_relaxed) != 0) {
    shortages_.store(0, std::memory_order_relaxed);
  }
}

void DriverHealth::failed(Failure failure) noexcept {
  const auto count = [](std::atomic<std::uint32_t>& in_a_row) {
    return in_a_row.fetch_add(1, std::memory_order_relaxed) + 1;
  };
  switch (kind_of(failure)) {
    case Kind::of_the_call:
      break;  // says nothing about the driver: it will take another key, or another thread's call
    case Kind::permanent:
      out_.store(true, std::memory_order_relaxed);
      break;
    case Kind::passing: {
      // 1, 3, 7, ... calls: the first retry comes soon, a lasting shortage costs next to nothing.
      const std::uint32_t times = count(shortages_);
      to_skip_.store(times >= 10 ? most_skips : (std::uint32_t{1} << times) - 1,
                     std::memory_order_relaxed);
      break;
    }
    case Kind::counts:
      if (count(failures_) >= most_failures) out_.store(true, std::memory_order_relaxed);
      break;
  }
}

}  // namespace kaccel::kernel
