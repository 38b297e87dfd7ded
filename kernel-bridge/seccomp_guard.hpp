// Keeps a session pool off AF_ALG in threads that run under a seccomp(2) filter.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "kernel-bridge/seccomp_state.hpp"
#include "kernel-bridge/status.hpp"

namespace kaccel::kernel {

enum class UnderSeccomp : std::uint8_t {
  ignore,   // never asked: for transports that make no system calls
  avoid,    // no filter may be in force
  as_made,  // those may that were in force when the guard was made, a container's say; not one more
};

// Safe from any thread. The answer is kept for each thread; a child process asks anew.
class SeccompGuard {
 public:
  explicit SeccompGuard(UnderSeccomp policy) noexcept;
  SeccompGuard(const SeccompGuard&) = delete;
  SeccompGuard& operator=(const SeccompGuard&) = delete;
  ~SeccompGuard();

  // Whether the calling thread may make AF_ALG's system calls: asked before each request, and
  // answered from memory but for the first time in this thread and process. `epoch` is
  // ProcessEpoch's. Failures: sandboxed, thread_sandboxed, no_descriptors, no_memory.
  Status check(std::uint32_t epoch) const noexcept {
    if (has_key_ && ::pthread_getspecific(key_) == keep(epoch, permitted)) [[likely]]
      return success;
    return check_otherwise(epoch);
  }

  // The same, looking again unless the answer can only stay no: filters come and never go.
  Status look_again(std::uint32_t epoch) const noexcept;

 private:
  // What a thread keeps of an answer: the epoch, since a child inherits what its parent kept, and
  // the verdict. On 32-bit machines the epoch's two highest bits are lost: no process forks so
  // often.
  enum Verdict : std::uintptr_t { none_yet, permitted, process_sandboxed, thread_only_sandboxed };
  static constexpr int verdict_bits = 2;
  static const void* keep(std::uint32_t epoch, Verdict verdict) noexcept {
    return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(epoch) << verdict_bits |
                                         verdict);
  }
  static Verdict verdict_on(Failure failure) noexcept;
  static Status status_of(Verdict verdict) noexcept;
  [[gnu::noinline]] Status check_otherwise(std::uint32_t epoch) const noexcept;
  Verdict kept(std::uint32_t epoch) const noexcept;
  Status judge() const noexcept;
  bool permits(const SeccompState& state) const noexcept;

  const UnderSeccomp policy_;
  bool has_key_ = false;
  pthread_key_t key_{};  // of what each thread keeps
  SeccompState as_made_;
};

}  // namespace kaccel::kernel
