#include "kernel-bridge/mac_run.hpp"

#include <algorithm>
#include <array>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/kept_errno.hpp"

namespace kaccel::kernel {

Status run_mac(SessionPool& pool, SessionPool::Handle& handle, const MacWork& work) noexcept {
  if (!work.driver.health.may_try()) return {Failure::driver_taken_out, 0};

  const KeptErrno kept;
  SessionPool::Lease lease;
  Status status = pool.borrow({work.driver, Direction::encrypt, work.key}, handle, lease);
  if (status) [[likely]] {
    std::array<std::uint8_t, max_digest_size> result{};
    const std::span<std::uint8_t> digest(result.data(), work.result.size());
    status = lease.session().mac(work.message, digest);
    if (status) [[likely]] {
      pool.count_request();
      std::copy(digest.begin(), digest.end(), work.result.begin());
    } else {
      pool.count_failed_request(status);
      lease.discard();
    }
  }
  note_health(work.driver, status);
  return status;
}

}  // namespace kaccel::kernel
