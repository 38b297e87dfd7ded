#include "tests/life/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

namespace kaccel::testing {

Child::Child(const Work& work, unsigned seconds) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    said_ = std::string("pipe: ") + std::strerror(errno);
    return;
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(ends[0]);
    ::alarm(seconds);
    std::string said;
    try {
      said = work(ends[1]);
    } catch (const std::exception& error) {
      said = error.what();
    }
    const bool told = ::write(ends[1], said.data(), said.size()) == ssize_t(said.size());
    ::_exit(said.empty() && told ? 0 : 1);
  }
  ::close(ends[1]);
  report_ = ends[0];
  if (pid_ < 0) said_ = std::string("fork: ") + std::strerror(errno);
}

std::string Child::wait() {
  if (pid_ <= 0) return said_;
  std::array<char, 4096> text{};
  ssize_t size = 0;
  while ((size = ::read(report_, text.data(), text.size())) > 0) {
    said_.append(text.data(), static_cast<std::size_t>(size));
  }
  ::close(report_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    said_ += std::string("the child died: ") + ::strsignal(WTERMSIG(status));
  } else if (said_.empty() && WEXITSTATUS(status) != 0) {
    said_ = "the child's exit status is " + std::to_string(WEXITSTATUS(status));
  }
  return said_;
}

}  // namespace kaccel::testing
