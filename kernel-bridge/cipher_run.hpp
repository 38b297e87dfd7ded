// Runs a stretch of whole blocks through a driver, in as many requests as it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernel-bridge/driver_health.hpp"
#include "kernel-bridge/session_pool.hpp"
#include "kernel-bridge/status.hpp"

namespace kaccel::kernel {

struct CipherWork {
  BoundDriver& driver;
  Direction direction;
  std::span<const std::uint8_t> key;
  // AlgorithmInfo::iv_size bytes, advanced past what was done. AF_ALG does not return the next
  // chaining value, so it is computed here.
  std::uint8_t* iv;
  const std::uint8_t* input;  // may overlap output in any way
  std::uint8_t* output;
  // Bytes, a multiple of the block size, and as the driver's rule of multiples wants them.
  std::size_t size;
};

struct CipherProgress {
  Status status;
  // Bytes done, a multiple of the block size; on success all of them, but for a rest that the
  // driver's restrictions allow no request for. The output beyond is undefined where it does not
  // overlap the input, untouched where it does.
  std::size_t done;
};

// Also keeps the driver's health. Not for XTS, whose data units must not be split.
CipherProgress run_cipher(SessionPool& pool, SessionPool::Handle& handle,
                          const CipherWork& work) noexcept;

// One XTS data unit of any size from a block up, in one request or not at all: `done` is 0 or all,
// and a success with 0 is a unit larger than one request may be. The IV is the unit's tweak and
// stays.
CipherProgress run_data_unit(SessionPool& pool, SessionPool::Handle& handle,
                             const CipherWork& work) noexcept;

}  // namespace kaccel::kernel
