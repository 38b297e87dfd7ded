// How requests reach a driver: the interface that AF_ALG implements (and /dev/crypto may, later).
// Tests put a transport of their own here.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/status.hpp"

namespace kaccel::kernel {

// One skcipher request. `input` and the output do not overlap, and input.size() is a multiple of
// the block size, at least one block and at most Session::max_request().
struct CipherRequest {
  Direction direction;
  std::span<const std::uint8_t> iv;     // AlgorithmInfo::iv_size bytes
  std::span<const std::uint8_t> input;  // read before the call returns, never written
  std::uint8_t* output;                 // input.size() bytes; undefined after a failure
};

// One keyed transform of one driver, used by one thread at a time. A cipher's session is asked to
// crypt(), a hash's to mac(), and never the other way round.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Closes what the session holds; never a descriptor that has become someone else's.
  virtual ~Session() = default;

  // Forgets what the session holds without a system call, so that its destructor makes none: for a
  // thread under a seccomp filter. Descriptors stay open until the process ends.
  virtual void abandon() noexcept {}

  // Loads a key, replacing the one before. Failures: bad_key, busy, descriptor_lost, ...; after one
  // the session is of no more use and is to be destroyed.
  virtual Status set_key(std::span<const std::uint8_t> key) noexcept = 0;

  // Runs one request to its end. After any failure the session is to be destroyed.
  virtual Status crypt(const CipherRequest& request) noexcept = 0;

  // The MAC of a whole message, for a session of a keyed hash. `result` has exactly
  // AlgorithmInfo::digest_size bytes, undefined after a failure; then the session is to be
  // destroyed. A transport without hashes has none.
  virtual Status mac(std::span<const std::uint8_t> /*message*/,
                     std::span<std::uint8_t> /*result*/) noexcept {
    return {Failure::driver_error, EOPNOTSUPP};
  }

  // Bytes that one request may carry; at least one page.
  virtual std::size_t max_request() const noexcept = 0;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  // Opens a transform without a key on exactly this driver. `driver` is the kernel's driver name
  // (cra_driver_name), at most 63 characters. Failures: no_af_alg, denied, no_driver,
  // no_descriptors, no_memory.
  virtual Status open(const char* driver, Algorithm algorithm,
                      std::unique_ptr<Session>& session) noexcept = 0;
};

}  // namespace kaccel::kernel
