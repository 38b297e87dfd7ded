#include "calibrate/helper_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>
#include <system_error>

#include "calibrate/unique_fd.hpp"

namespace kaccel::calibrate {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds time_to_die{2000};
// Marks the last line of a job that threw.
constexpr char threw_mark = '\x01';

void write_line(int fd, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1);  // the parent is gone
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A helper that never ends must not keep the caller's output open: whoever reads a pipe would wait
// for ever.
void let_go_of_standard_streams() {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
}

// The helper's whole life. Leaves by _exit: what the parent registered with atexit is the parent's.
[[noreturn]] void live_as_helper(const std::function<void(const SayLine&)>& job, int fd,
                                 pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  let_go_of_standard_streams();
  try {
    job([fd](std::string_view line) { write_line(fd, std::string(line)); });
    _exit(0);
  } catch (const std::exception& error) {
    write_line(fd, threw_mark + std::string(error.what()));
  } catch (...) {
    write_line(fd, threw_mark + std::string("an unknown exception"));
  }
  _exit(1);
}

// Waits until the helper has ended or `deadline` has passed; a moment where the kernel (before 5.3)
// cannot wait for that.
void await_end(pid_t helper, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  const auto patience = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, helper, 0)));
  pollfd wanted{process.get(), POLLIN, 0};
  if (process.get() >= 0) {
    poll(&wanted, 1, patience);
  } else {
    poll(nullptr, 0, std::min(patience, 5));
  }
}

// The exit status if the helper ends within `patience`.
std::optional<int> reap(pid_t helper, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    int status = 0;
    const pid_t reaped = waitpid(helper, &status, WNOHANG);
    if (reaped == helper) return status;
    if (reaped < 0 && errno != EINTR) return 0;  // SIGCHLD is ignored here: nothing to reap
    if (Clock::now() >= deadline) return {};
    await_end(helper, deadline);
  }
}

HelperResult kill_and_report(pid_t helper, std::string why) {
  kill(helper, SIGKILL);
  if (reap(helper, time_to_die)) return {HelperEnd::timed_out, std::move(why)};
  return {HelperEnd::stuck, why + " and does not die (process " + std::to_string(helper) +
                                " stays behind, waiting for the driver)"};
}

// Cuts what comes through the pipe into lines.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  // Waits for data at most until `deadline`; says which of the three came.
  enum class Event { data, end, deadline };
  Event wait(Clock::time_point deadline) {
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return Event::deadline;
      pollfd wanted{fd_, POLLIN, 0};
      const int ready = poll(
          &wanted, 1, static_cast<int>(std::min<std::int64_t>(left.count(), std::int64_t{60'000})));
      if (ready <= 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t got = read(fd_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Event::end;
      pending_.append(buffer.data(), static_cast<std::size_t>(got));
      return Event::data;
    }
  }

  std::optional<std::string> next() {
    const auto newline = pending_.find('\n');
    if (newline == std::string::npos) return {};
    std::string line = pending_.substr(0, newline);
    pending_.erase(0, newline + 1);
    return line;
  }

 private:
  int fd_;
  std::string pending_;
};

std::string seconds(milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

// Reads to the end of the pipe. Returns what went wrong with the time, or "".
std::string follow(LineReader& reader, const SayLine& on_line, const HelperLimits& limits,
                   std::string& thrown) {
  const auto last_moment = Clock::now() + limits.total;
  for (;;) {
    const auto quiet_moment = Clock::now() + limits.quiet;
    switch (reader.wait(std::min(quiet_moment, last_moment))) {
      case LineReader::Event::end:
        return {};
      case LineReader::Event::deadline:
        return quiet_moment < last_moment ? "hangs: no answer for " + seconds(limits.quiet)
                                          : "takes longer than " + seconds(limits.total);
      case LineReader::Event::data:
        break;
    }
    while (const auto line = reader.next()) {
      if (line->starts_with(threw_mark)) {
        thrown = line->substr(1);
      } else {
        on_line(*line);
      }
    }
  }
}

}  // namespace

HelperResult run_in_helper(const std::function<void(const SayLine& say)>& job,
                           const SayLine& on_line, const HelperLimits& limits) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t parent = getpid();
  const pid_t helper = fork();
  if (helper < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot start a helper process");
  }
  if (helper == 0) {
    read_end.reset();
    live_as_helper(job, write_end.get(), parent);
  }
  write_end.reset();

  const auto start = Clock::now();
  LineReader reader(read_end.get());
  std::string thrown;
  std::string late;
  try {
    late = follow(reader, on_line, limits, thrown);
  } catch (...) {
    kill_and_report(helper, {});
    throw;
  }
  if (!late.empty()) {
    auto result = kill_and_report(helper, std::move(late));
    result.took_all_its_time = Clock::now() - start >= limits.total;
    return result;
  }

  // The end of the pipe is not the end of the process: closing a transform may block too.
  const auto status = reap(helper, limits.quiet);
  if (!status) return kill_and_report(helper, "hangs while it closes the driver");
  if (WIFSIGNALED(*status)) {
    return {HelperEnd::died, std::string("was ended by signal ") +
                                 std::to_string(WTERMSIG(*status)) + " (" +
                                 strsignal(WTERMSIG(*status)) + ")"};
  }
  if (!thrown.empty()) return {HelperEnd::threw, std::move(thrown)};
  if (WEXITSTATUS(*status) != 0) {
    return {HelperEnd::died, "exited with status " + std::to_string(WEXITSTATUS(*status))};
  }
  return {HelperEnd::finished, {}};
}

}  // namespace kaccel::calibrate
