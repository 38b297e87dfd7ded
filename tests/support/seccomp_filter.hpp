// seccomp(2) filters for tests, put on the calling thread. They never come off: call in a child
// process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

namespace kaccel::testing {

// One system call and what becomes of it.
struct SeccompRule {
  long number;           // SYS_...
  std::uint32_t action;  // SECCOMP_RET_...
};

// False where this kernel cannot.
bool put_on_filter(std::initializer_list<SeccompRule> rules);

// What OpenSSH's child before authentication does (sandbox-seccomp-filter.c), as far as kaccel may
// meet it: opening is denied by EACCES, what memory, time and existing descriptors need is allowed,
// and all else kills the process.
bool put_on_openssh_filter();

// socket(AF_ALG) alone fails with this errno.
bool deny_af_alg(int error_number);

// How a child process ended that ran this: "" where it returned "", its text where it returned one,
// or the signal's name. A child that hangs is killed after 20 s.
std::string in_child(const std::function<std::string()>& check);

}  // namespace kaccel::testing
