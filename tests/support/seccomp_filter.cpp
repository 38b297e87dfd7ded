#include "tests/support/seccomp_filter.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#ifndef AF_ALG
#define AF_ALG 38
#endif

namespace kaccel::testing {
namespace {

using Program = std::vector<sock_filter>;

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
constexpr sock_filter answer(std::uint32_t action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}
// Skips so many instructions where the loaded word is another.
constexpr sock_filter unless(std::uint32_t value, std::uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

void add_rule(Program& program, const SeccompRule& rule) {
  program.push_back(unless(static_cast<std::uint32_t>(rule.number), 1));
  program.push_back(answer(rule.action));
}

bool put_on(Program program) {
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) == 0;
}

constexpr std::size_t number_offset = offsetof(seccomp_data, nr);
// The lower half of the first argument.
constexpr std::size_t argument_offset =
    offsetof(seccomp_data, args) + (std::endian::native == std::endian::big ? 4 : 0);

constexpr std::uint32_t fail_with(int error_number) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error_number);
}

}  // namespace

bool put_on_filter(std::initializer_list<SeccompRule> rules) {
  Program program{load(number_offset)};
  for (const SeccompRule& rule : rules) add_rule(program, rule);
  program.push_back(answer(SECCOMP_RET_ALLOW));
  return put_on(program);
}

bool put_on_openssh_filter() {
  Program program{load(number_offset)};
  for (const long number : {
#ifdef SYS_open
           SYS_open,
#endif
#ifdef SYS_stat
           SYS_stat,
#endif
           SYS_openat, SYS_newfstatat, SYS_fstat}) {
    add_rule(program, {number, fail_with(EACCES)});
  }
  for (const long number :
       {SYS_brk, SYS_clock_gettime, SYS_close, SYS_exit, SYS_exit_group, SYS_futex, SYS_getpid,
        SYS_getrandom, SYS_mmap, SYS_mremap, SYS_munmap, SYS_mprotect, SYS_read, SYS_write,
        SYS_ppoll, SYS_madvise, SYS_rt_sigprocmask}) {
    add_rule(program, {number, SECCOMP_RET_ALLOW});
  }
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  return put_on(program);
}

bool deny_af_alg(int error_number) {
  return put_on({load(number_offset), unless(static_cast<std::uint32_t>(SYS_socket), 3),
                 load(argument_offset), unless(AF_ALG, 1), answer(fail_with(error_number)),
                 answer(SECCOMP_RET_ALLOW)});
}

std::string in_child(const std::function<std::string()>& check) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(20);
    const std::string text = check();
    const bool is_told =
        ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    // Not _exit(), before which AddressSanitizer makes a system call that filters kill at.
    for (;;) ::syscall(SYS_exit_group, is_told ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 512> buffer{};
  for (ssize_t got; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "no child";
  if (WIFSIGNALED(status)) return ::strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit status " + std::to_string(WEXITSTATUS(status));
  return text;
}

}  // namespace kaccel::testing
