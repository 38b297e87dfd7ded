#include "kernel-bridge/seccomp_state.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "kernel-bridge/system_calls.hpp"

namespace kaccel::kernel {
namespace {

// What stands behind these names in /proc/PID/status, see proc(5).
struct StatusLines {
  int mode = 0;  // no such line: a kernel without seccomp
  int filters = -1;
  int process = 0;
  int thread = -1;
  int threads = 0;
};

void read_number(std::string_view line, std::string_view name, int& number) noexcept {
  if (!line.starts_with(name)) return;
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  std::from_chars(line.data(), line.data() + line.size(), number);
}

// False when reading fails, with errno.
bool read_lines(int file, StatusLines& lines) noexcept {
  std::array<char, 2048> buffer;
  std::size_t kept = 0;  // of a line whose end is still to come
  for (;;) {
    const ssize_t got = ::read(file, buffer.data() + kept, buffer.size() - kept);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    std::string_view text(buffer.data(), kept + static_cast<std::size_t>(got));
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
      read_number(text.substr(0, end), "Seccomp:", lines.mode);
      read_number(text.substr(0, end), "Seccomp_filters:", lines.filters);
      read_number(text.substr(0, end), "Tgid:", lines.process);
      read_number(text.substr(0, end), "Pid:", lines.thread);
      read_number(text.substr(0, end), "Threads:", lines.threads);
    }
    // Only the list of groups is longer than the buffer; what is left of it looks like no other.
    if (text.size() == buffer.size()) text = {};
    std::copy(text.begin(), text.end(), buffer.begin());  // to the left: they may overlap
    kept = text.size();
  }
}

SeccompState ask_prctl() noexcept {
  const int mode = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
  if (mode > 0) return {SeccompFinding::filtered, -1, 0};
  // EINVAL: a kernel without seccomp.
  if (mode == 0 || errno == EINVAL) return {};
  return {SeccompFinding::refused, -1, errno};
}

// Whether open(2) reaches the kernel, which has no file without a name. A filter that denies the
// call says what it says to all.
bool is_open_answered_by_the_kernel() noexcept {
  return ::open("", O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT;
}

// Whether /proc is not there or the user may not come near it. Landlock, which sandboxes put beside
// seccomp, refuses to open a file for reading but not for O_PATH.
bool is_proc_out_of_reach() noexcept {
  const int file = ::open("/proc", O_PATH | O_CLOEXEC);
  if (file < 0) return errno == ENOENT || errno == EACCES;
  ::close(file);
  return false;
}

SeccompState failed(int error_number) noexcept {
  switch (error_number) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return {SeccompFinding::cannot_tell, -1, error_number};
    default:
      return {SeccompFinding::refused, -1, error_number};
  }
}

SeccompState read_state(const char* path) noexcept {
  const CancellationOff off;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    const int error_number = errno;
    // A chroot, and one that the user may not look into.
    const bool is_chroot =
        error_number == ENOENT || (error_number == EACCES && is_proc_out_of_reach());
    return is_chroot && is_open_answered_by_the_kernel() ? ask_prctl() : failed(error_number);
  }
  StatusLines lines;
  const bool is_read = read_lines(file, lines);
  const int error_number = errno;
  ::close(file);
  if (!is_read) return failed(error_number);
  if (lines.mode == 0) return {};
  return {SeccompFinding::filtered, lines.filters, 0,
          lines.process == lines.thread && lines.threads > 1};
}

}  // namespace

SeccompState seccomp_state() noexcept {
  return read_state("/proc/thread-self/status");
}

SeccompState first_threads_seccomp_state() noexcept {
  return read_state("/proc/self/status");
}

bool seccomp_filter_in_force() noexcept {
  const SeccompFinding finding = seccomp_state().finding;
  return finding == SeccompFinding::filtered || finding == SeccompFinding::refused;
}

}  // namespace kaccel::kernel
