// Whether a seccomp(2) filter is in force over the calling thread.
//
// Sandboxes kill a process at its first system call that they do not know, and AF_ALG's are such:
// OpenSSH's child before authentication (sandbox-seccomp-filter.c) denies open(2) with EACCES and
// kills at socket(2), getsockopt(2) or prctl(2). So the question itself may use nothing that
// sandboxes kill at: open, read and close. Only where /proc is missing (a chroot) prctl(2) answers.
#pragma once

#include <cstdint>

namespace kaccel::kernel {

enum class SeccompFinding : std::uint8_t {
  nothing,      // no filter; also on a kernel without seccomp
  filtered,     // a filter, or strict mode
  refused,      // the question was refused, as sandboxes do: taken for a filter
  cannot_tell,  // out of descriptors or memory; ask again later
};

struct SeccompState {
  SeccompFinding finding = SeccompFinding::nothing;
  // Filters in force; -1 where that is not told (before Linux 5.9, or without /proc).
  int filters = -1;
  int error_number = 0;  // of refused and cannot_tell
  // filtered: in the first of several threads, whose filter may be its own. The others' is told by
  // first_threads_seccomp_state().
  bool in_first_of_several = false;

  bool operator==(const SeccompState&) const = default;
};

// Of the calling thread: filters are a thread's own. About as dear as opening any file of /proc.
SeccompState seccomp_state() noexcept;

// Of the process's first thread, in the same way.
SeccompState first_threads_seccomp_state() noexcept;

// Whether the calling thread is, or must be taken to be, under a filter.
bool seccomp_filter_in_force() noexcept;

}  // namespace kaccel::kernel
