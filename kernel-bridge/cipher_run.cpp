#include "kernel-bridge/cipher_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

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

// The next request: as large as driver and kernel take, and never so that a rest remains that the
// driver must not see.
std::size_t next_request(std::size_t left, std::size_t block, const Session& session,
                         const Restrictions& restrictions) noexcept {
  const std::size_t most = std::min(session.max_request(), restrictions.max_size) / block * block;
  if (left <= most) return left;
  const std::size_t rest = left - most;
  if (rest >= restrictions.min_size) return most;
  const std::size_t lacking = (restrictions.min_size - rest + block - 1) / block * block;
  return lacking < most ? most - lacking : most;
}

class Run {
 public:
  Run(const CipherWork& work, SessionPool::Lease& lease) noexcept
      : work_(work), row_(info(work.driver.algorithm)), lease_(lease) {}

  Status request(std::size_t offset, std::size_t size) noexcept {
    const std::uint8_t* input = work_.input + offset;
    std::uint8_t* output = work_.output + offset;
    // The input must survive a failure, so that software can do the same call again.
    const bool in_place = overlap(input, output, size);
    std::uint8_t* target = in_place ? lease_.bounce_buffer(size) : output;
    if (target == nullptr) return {Failure::no_memory, ENOMEM};

    const Status status =
        lease_.session().crypt({work_.direction, {work_.iv, row_.iv_size}, {input, size}, target});
    if (status) {
      advance_iv(input, target, size);
      if (in_place) std::memcpy(output, target, size);
    }
    if (in_place) wipe(target, size);
    return status;
  }

 private:
  void advance_iv(const std::uint8_t* input, const std::uint8_t* output,
                  std::size_t size) noexcept {
    if (row_.chaining == Chaining::ctr) {
      add_to_counter(work_.iv, row_.iv_size, size / row_.block_size);
    } else if (row_.chaining == Chaining::cbc) {
      const std::uint8_t* ciphertext = work_.direction == Direction::encrypt ? output : input;
      std::memcpy(work_.iv, ciphertext + size - row_.iv_size, row_.iv_size);
    }
  }

  const CipherWork& work_;
  const AlgorithmInfo& row_;
  SessionPool::Lease& lease_;
};

}  // namespace

CipherProgress run_cipher(SessionPool& pool, SessionPool::Handle& handle,
                          const CipherWork& work) noexcept {
  if (!work.driver.health.may_try()) return {{Failure::driver_taken_out, 0}, 0};

  SessionPool::Lease lease;
  Status status = pool.borrow({work.driver, work.direction, work.key}, handle, lease);
  std::size_t done = 0;
  if (status) {
    const std::size_t block = info(work.driver.algorithm).block_size;
    Run run(work, lease);
    while (status && done < work.size) {
      const std::size_t size =
          next_request(work.size - done, block, lease.session(), work.driver.restrictions);
      pool.count_request();
      status = run.request(done, size);
      if (status) done += size;
    }
    if (!status) lease.discard();
  }
  if (status) {
    work.driver.health.succeeded();
  } else {
    work.driver.health.failed(status.failure);
  }
  return {status, done};
}

}  // namespace kaccel::kernel
