#include "calibrate/input_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "calibrate/command_error.hpp"
#include "calibrate/unique_fd.hpp"

namespace kaccel::calibrate {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;

[[noreturn]] void cannot_read(const std::string& path, const char* reason) {
  throw CommandError(exit_bad_input, "cannot read the file", printable(path, 200), reason);
}

}  // namespace

std::string read_input_file(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) cannot_read(path, std::strerror(errno));
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > most_bytes) cannot_read(path, "it is larger than 16 MiB");
  }
}

}  // namespace kaccel::calibrate
