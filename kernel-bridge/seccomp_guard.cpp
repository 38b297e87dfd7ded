#include "kernel-bridge/seccomp_guard.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace kaccel::kernel {
namespace {

// What one guard was told in this thread. A child inherits it, but not the epoch.
struct Answer {
  std::uint64_t of = 0;  // the guard's id and the epoch; 0: none yet
  Failure failure = Failure::none;
};

// By the guard's id, so that a thread that uses several providers in turn need not ask each time.
thread_local std::array<Answer, 4> answers;

std::atomic<std::uint32_t> last_id{0};

}  // namespace

SeccompGuard::SeccompGuard(UnderSeccomp policy) noexcept
    : policy_(policy), id_(last_id.fetch_add(1, std::memory_order_relaxed) + 1) {
  if (policy == UnderSeccomp::as_made) as_made_ = seccomp_state();
}

Status SeccompGuard::check(std::uint32_t epoch) const noexcept {
  if (policy_ == UnderSeccomp::ignore) return success;
  const Answer& kept = answers[id_ % answers.size()];
  if (kept.of == (std::uint64_t{id_} << 32 | epoch)) [[likely]]
    return {kept.failure, 0};
  return look_again(epoch);
}

Status SeccompGuard::look_again(std::uint32_t epoch) const noexcept {
  if (policy_ == UnderSeccomp::ignore) return success;
  Answer& kept = answers[id_ % answers.size()];
  const std::uint64_t of = std::uint64_t{id_} << 32 | epoch;
  if (kept.of == of && kept.failure != Failure::none) return {kept.failure, 0};
  const Status status = judge();
  if (status || is_sandboxed(status.failure)) kept = {of, status.failure};
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
  const bool only_here =
      state.finding == SeccompFinding::filtered && permits(first_threads_seccomp_state());
  return {only_here ? Failure::thread_sandboxed : Failure::sandboxed, state.error_number};
}

bool SeccompGuard::permits(const SeccompState& state) const noexcept {
  if (state.finding == SeccompFinding::nothing) return true;
  return policy_ == UnderSeccomp::as_made && state.finding == SeccompFinding::filtered &&
         state == as_made_;
}

}  // namespace kaccel::kernel
