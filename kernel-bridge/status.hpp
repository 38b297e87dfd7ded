// What can go wrong between kaccel and the kernel, as a value. The kernel-bridge throws nothing:
// every function that may fail returns a Status, and a failed request has no effect that its caller
// must undo.
#pragma once

#include <cstdint>

namespace kaccel::kernel {

enum class Failure : std::uint8_t {
  none,
  no_af_alg,         // the kernel has no AF_ALG or not this socket type (EAFNOSUPPORT)
  denied,            // seccomp, LSM or container policy (EPERM, EACCES, ENOSYS)
  no_driver,         // the driver's name does not bind (ENOENT); Linux >= 7.2 hides hardware so
  bad_key,           // the driver refuses this key (EINVAL, ENOKEY from ALG_SET_KEY)
  busy,              // the transform is in use elsewhere (EBUSY)
  no_descriptors,    // EMFILE, ENFILE
  no_memory,         // ENOMEM, ENOBUFS, or our own allocation
  pool_exhausted,    // every session of the pool is in use at this moment
  descriptor_lost,   // the descriptor was closed or now belongs to something else
  short_transfer,    // the kernel took or gave another number of bytes than asked
  driver_error,      // any other errno of a request
  driver_taken_out,  // failed too often before; not tried any more in this process
  sandboxed,         // a seccomp filter is in force, and AF_ALG was not even tried
  thread_sandboxed,  // the same, but not over the whole process
};

// A Failure with the errno behind it (0 where there is none). Converts to true on success.
struct [[nodiscard]] Status {
  Failure failure = Failure::none;
  int error_number = 0;

  constexpr explicit operator bool() const noexcept { return failure == Failure::none; }
};

inline constexpr Status success{};

// Whether a request that failed so was given to its driver: without memory or the socket it was
// not.
constexpr bool reached_driver(Failure failure) noexcept {
  return failure == Failure::short_transfer || failure == Failure::driver_error ||
         failure == Failure::busy;
}

// Whether the call stays off AF_ALG as it should, which is neither a fault nor a shortage.
constexpr bool is_sandboxed(Failure failure) noexcept {
  return failure == Failure::sandboxed || failure == Failure::thread_sandboxed;
}

// A short lower-case phrase for messages, e.g. "no such driver". Never nullptr.
const char* describe(Failure failure) noexcept;

}  // namespace kaccel::kernel
