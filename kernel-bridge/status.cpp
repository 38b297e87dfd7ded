#include "kernel-bridge/status.hpp"

namespace kaccel::kernel {

const char* describe(Failure failure) noexcept {
  switch (failure) {
    case Failure::none:
      return "success";
    case Failure::no_af_alg:
      return "this kernel has no AF_ALG";
    case Failure::denied:
      return "AF_ALG is denied by policy";
    case Failure::no_driver:
      return "no such driver";
    case Failure::bad_key:
      return "the driver refuses this key";
    case Failure::busy:
      return "the transform is busy";
    case Failure::no_descriptors:
      return "out of file descriptors";
    case Failure::no_memory:
      return "out of memory";
    case Failure::pool_exhausted:
      return "every session is in use";
    case Failure::descriptor_lost:
      return "the descriptor was closed by someone else";
    case Failure::short_transfer:
      return "the kernel moved another number of bytes than asked";
    case Failure::driver_error:
      return "the driver failed the request";
    case Failure::driver_taken_out:
      return "the driver failed too often in this process";
    case Failure::sandboxed:
      return "this process runs under a seccomp filter";
    case Failure::thread_sandboxed:
      return "this thread runs under a seccomp filter";
  }
  return "unknown failure";
}

}  // namespace kaccel::kernel
