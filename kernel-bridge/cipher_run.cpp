#include "kernel-bridge/cipher_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "kernel-bridge/fork_safety.hpp"
#include "kernel-bridge/kept_errno.hpp"

namespace kaccel::kernel {
namespace {

bool overlap(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) noexcept {
  const auto x = reinterpret_cast<std::uintptr_t>(a);
  const auto y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + size && y < x + size;
}

// Big-endian addition, wrapping at 2^128 as OpenSSL's and the kernel's CTR do.
void add_to_counter(std::uint8_t* counter, std::size_t counter_size,
                    std::uint64_t blocks) noexcept {
  std::uint64_t carry = blocks;
  for (std::size_t i = counter_size; i-- > 0 && carry != 0;) {
    carry += counter[i];
    counter[i] = static_cast<std::uint8_t>(carry);
    carry >>= 8;
  }
}

// The next request: as large as driver and kernel take, and if possible so that no rest remains
// that the driver must not see. 0 when it must not see any of what is left. `left` itself keeps the
// driver's rule of multiples, since the caller asked permits_multiple().
std::size_t next_request(std::size_t left, std::size_t block, const Session& session,
                         const Restrictions& restrictions) noexcept {
  const std::size_t limit = std::min(session.max_request(), restrictions.max_size);
  if (left <= limit) [[likely]]
    return left >= restrictions.min_size ? left : 0;
  const bool needs_multiples =
      restrictions.size_multiple != 0 && left > restrictions.multiple_above;
  const std::size_t unit = needs_multiples ? std::lcm(block, restrictions.size_multiple) : block;
  const std::size_t most = limit / unit * unit;
  if (most < restrictions.min_size) return 0;
  const std::size_t rest = left - most;
  if (rest >= restrictions.min_size) return most;
  const std::size_t lacking = (restrictions.min_size - rest + unit - 1) / unit * unit;
  const bool can_lack = lacking < most && most - lacking >= restrictions.min_size;
  return can_lack ? most - lacking : most;
}

// The chaining value after `size` bytes, in iv. Written out by size: a copy of known length is two
// instructions, and this is on the way of every request.
void copy_iv(std::uint8_t* to, const std::uint8_t* from, std::size_t iv_size) noexcept {
  if (iv_size == 16) [[likely]] {
    std::memcpy(to, from, 16);
  } else {
    std::memcpy(to, from, iv_size);
  }
}

void advance_iv(const AlgorithmInfo& row, Direction direction, std::uint8_t* iv,
                const std::uint8_t* input, const std::uint8_t* output, std::size_t size) noexcept {
  if (row.chaining == Chaining::cbc) {
    const std::uint8_t* ciphertext = direction == Direction::encrypt ? output : input;
    copy_iv(iv, ciphertext + size - row.iv_size, row.iv_size);
  } else if (row.chaining == Chaining::ctr) {
    add_to_counter(iv, row.iv_size, size / row.block_size);
  }
}

// One request whose output the driver writes elsewhere first: where it lies over the input, which
// must survive a failure so that software can do the same call again, and where a fork of another
// thread could take it away.
[[gnu::noinline]] Status request_by_bounce(const CipherWork& work, const AlgorithmInfo& row,
                                           SessionPool::Lease& lease, const std::uint8_t* input,
                                           std::uint8_t* output, std::size_t size) noexcept {
  std::uint8_t* bounce = lease.bounce_buffer(size);
  if (bounce == nullptr) return {Failure::no_memory, ENOMEM};
  const Status status =
      lease.session().crypt({work.direction, {work.iv, row.iv_size}, {input, size}, bounce});
  if (status) {
    advance_iv(row, work.direction, work.iv, input, bounce, size);
    std::memcpy(output, bounce, size);
  }
  wipe(bounce, size);
  return status;
}

[[gnu::always_inline]] inline Status request_apart(const CipherWork& work, const AlgorithmInfo& row,
                                                   SessionPool::Lease& lease,
                                                   const std::uint8_t* input, std::uint8_t* output,
                                                   std::size_t size) noexcept {
  const Status status =
      lease.session().crypt({work.direction, {work.iv, row.iv_size}, {input, size}, output});
  if (status) advance_iv(row, work.direction, work.iv, input, output, size);
  return status;
}

[[gnu::always_inline]] inline Status request(const CipherWork& work, const AlgorithmInfo& row,
                                             SessionPool::Lease& lease, const std::uint8_t* input,
                                             std::uint8_t* output, std::size_t size) noexcept {
  return overlap(input, output, size) || output_may_be_lost_to_fork()
             ? request_by_bounce(work, row, lease, input, output, size)
             : request_apart(work, row, lease, input, output, size);
}

// Most work is: within every limit, and its output goes where it belongs.
[[gnu::always_inline]] inline bool is_one_request(const CipherWork& work,
                                                  const Session& session) noexcept {
  const Restrictions& restrictions = work.driver.restrictions;
  return work.size <= session.max_request() && work.size <= restrictions.max_size &&
         work.size >= restrictions.min_size && work.size != 0 &&
         !overlap(work.input, work.output, work.size) && !output_may_be_lost_to_fork();
}

// All other work. Apart, so that one request saves no registers for it.
[[gnu::noinline]] CipherProgress run_requests(SessionPool& pool, SessionPool::Lease& lease,
                                              const AlgorithmInfo& row,
                                              const CipherWork& work) noexcept {
  Status status = success;
  std::size_t done = 0;
  do {
    const std::size_t size =
        next_request(work.size - done, row.block_size, lease.session(), work.driver.restrictions);
    if (size == 0) [[unlikely]]
      break;
    const std::uint8_t* input = work.input + done;
    std::uint8_t* output = work.output + done;
    status = request(work, row, lease, input, output, size);
    if (!status) [[unlikely]] {
      pool.count_failed_request(status);
      lease.discard();
      break;
    }
    pool.count_request();
    done += size;
  } while (done < work.size);
  return CipherProgress{status, done};
}

}  // namespace

CipherProgress run_cipher(SessionPool& pool, SessionPool::Handle& handle,
                          const CipherWork& work) noexcept {
  if (!work.driver.health.may_try()) return {{Failure::driver_taken_out, 0}, 0};

  const KeptErrno kept;
  SessionPool::Lease lease;
  Status status = pool.borrow({work.driver, work.direction, work.key}, handle, lease);
  std::size_t done = 0;
  if (status) [[likely]] {
    const AlgorithmInfo& row = info(work.driver.algorithm);
    if (is_one_request(work, lease.session())) [[likely]] {
      status = request_apart(work, row, lease, work.input, work.output, work.size);
      if (status) [[likely]] {
        pool.count_request();
        done = work.size;
      } else {
        pool.count_failed_request(status);
        lease.discard();
      }
    } else {
      const CipherProgress progress = run_requests(pool, lease, row, work);
      status = progress.status;
      done = progress.done;
    }
  }
  note_health(work.driver, status);
  return {status, done};
}

CipherProgress run_data_unit(SessionPool& pool, SessionPool::Handle& handle,
                             const CipherWork& work) noexcept {
  if (!work.driver.health.may_try()) return {{Failure::driver_taken_out, 0}, 0};

  const KeptErrno kept;
  SessionPool::Lease lease;
  Status status = pool.borrow({work.driver, work.direction, work.key}, handle, lease);
  if (status) [[likely]] {
    const AlgorithmInfo& row = info(work.driver.algorithm);
    const std::size_t limit =
        std::min(lease.session().max_request(), work.driver.restrictions.max_size);
    if (work.size > limit) [[unlikely]]
      return {success, 0};
    status = request(work, row, lease, work.input, work.output, work.size);
    if (status) [[likely]] {
      pool.count_request();
    } else {
      pool.count_failed_request(status);
      lease.discard();
    }
  }
  note_health(work.driver, status);
  return {status, status ? work.size : 0};
}

}  // namespace kaccel::kernel
