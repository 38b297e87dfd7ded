// Whether a driver is still worth asking: it is taken out after it failed too often, so that a
// broken device costs a few calls and not every call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/restrictions.hpp"
#include "kernel-bridge/status.hpp"

namespace kaccel::kernel {

// Safe from any thread.
class DriverHealth {
 public:
  // Failures in a row after which a driver is taken out for the life of the process.
  static constexpr std::uint32_t most_failures = 4;

  // Whether this call may go to the driver. After a failure that may pass (out of descriptors,
  // memory, sessions) a growing number of calls answers no, so that a full process does not try a
  // system call for each.
  bool may_try() noexcept;

  bool is_out() const noexcept { return out_.load(std::memory_order_relaxed); }

  void succeeded() noexcept;
  void failed(Failure failure) noexcept;

 private:
  std::atomic<bool> out_{false};
  // In a row; apart, since a shortage is not the driver's fault.
  std::atomic<std::uint32_t> failures_{0};
  std::atomic<std::uint32_t> shortages_{0};
  std::atomic<std::uint32_t> to_skip_{0};  // calls to answer no
};

// A driver that calls are routed to.
struct BoundDriver {
  static constexpr std::size_t name_size = 64;  // sockaddr_alg.salg_name, with its final zero

  std::array<char, name_size> name{};
  Algorithm algorithm{};
  Restrictions restrictions;
  DriverHealth health;
};

// What a run's end says of the driver.
inline void note_health(BoundDriver& driver, const Status& status) noexcept {
  if (status) [[likely]] {
    driver.health.succeeded();
  } else {
    driver.health.failed(status.failure);
  }
}

}  // namespace kaccel::kernel
