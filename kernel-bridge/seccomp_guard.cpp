#include "kernel-bridge/seccomp_guard.hpp"

#include <cerrno>
#include <initializer_list>

namespace kaccel::kernel {
SeccompGuard::Verdict SeccompGuard::verdict_on(Failure failure) noexcept {
  switch (failure) {
    case Failure::none:
      return permitted;
    case Failure::sandboxed:
      return process_sandboxed;
    case Failure::thread_sandboxed:
      return thread_only_sandboxed;
    default:
      return none_yet;
  }
}

Status SeccompGuard::status_of(Verdict verdict) noexcept {
  switch (verdict) {
    case process_sandboxed:
      return {Failure::sandboxed, 0};
    case thread_only_sandboxed:
      return {Failure::thread_sandboxed, 0};
    default:
      return success;
  }
}

SeccompGuard::SeccompGuard(UnderSeccomp policy) noexcept : policy_(policy) {
  if (policy == UnderSeccomp::ignore) return;
  // No thread_local: in a module that is loaded later its memory comes from malloc, and where that
  // fails the process ends.
  has_key_ = ::pthread_key_create(&key_, nullptr) == 0;
  if (policy == UnderSeccomp::as_made) as_made_ = seccomp_state();
}

SeccompGuard::~SeccompGuard() {
  if (has_key_) ::pthread_key_delete(key_);
}

SeccompGuard::Verdict SeccompGuard::kept(std::uint32_t epoch) const noexcept {
  if (!has_key_) return none_yet;
  const void* value = ::pthread_getspecific(key_);
  for (const Verdict verdict : {permitted, process_sandboxed, thread_only_sandboxed}) {
    if (value == keep(epoch, verdict)) return verdict;
  }
  return none_yet;
}

Status SeccompGuard::check_otherwise(std::uint32_t epoch) const noexcept {
  if (policy_ == UnderSeccomp::ignore) return success;
  const Verdict verdict = kept(epoch);
  if (verdict != none_yet) [[likely]]
    return status_of(verdict);
  return look_again(epoch);
}

Status SeccompGuard::look_again(std::uint32_t epoch) const noexcept {
  if (policy_ == UnderSeccomp::ignore) return success;
  const Verdict verdict = kept(epoch);
  if (verdict != none_yet && verdict != permitted) return status_of(verdict);
  const Status status = judge();
  // What could not be kept is asked for again.
  if (has_key_ && verdict_on(status.failure) != none_yet) {
    ::pthread_setspecific(key_, keep(epoch, verdict_on(status.failure)));
  }
  return status;
}

Status SeccompGuard::judge() const noexcept {
  const SeccompState state = seccomp_state();
  if (permits(state)) return success;
  if (state.finding == SeccompFinding::cannot_tell) {
    return {state.error_number == ENOMEM ? Failure::no_memory : Failure::no_descriptors,
            state.error_number};
  }
  // Most filters hold over the whole process, and then nobody needs to try again.
  const bool only_here = state.finding == SeccompFinding::filtered &&
                         (state.in_first_of_several || permits(first_threads_seccomp_state()));
  return {only_here ? Failure::thread_sandboxed : Failure::sandboxed, state.error_number};
}

bool SeccompGuard::permits(const SeccompState& state) const noexcept {
  if (state.finding == SeccompFinding::nothing) return true;
  return policy_ == UnderSeccomp::as_made && state.finding == SeccompFinding::filtered &&
         as_made_.finding == state.finding && as_made_.filters == state.filters;
}

}  // namespace kaccel::kernel
