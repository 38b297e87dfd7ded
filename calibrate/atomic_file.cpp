#include "calibrate/atomic_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "calibrate/command_error.hpp"
#include "calibrate/unique_fd.hpp"

namespace kaccel::calibrate {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path, int error_number) {
  const bool permission = error_number == EACCES || error_number == EPERM;
  throw CommandError(exit_cannot, "cannot write", printable(path.string(), 200),
                     std::string(std::strerror(error_number)) + "; " +
                         (permission ? "run as root or " : "") +
                         "choose another file with --output");
}

fs::path target_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) cannot_write(path, error.value());
  if (fs::is_directory(target, error)) cannot_write(path, EISDIR);
  return target;
}

// A device, a pipe: /dev/null, /dev/stdout. Nothing to replace, and renaming over it would destroy
// it.
bool is_special(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void write_whole(int fd, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

UniqueFd open_special(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) cannot_write(path, errno);
  return fd;
}

// A new file beside the target that removes itself unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target),
        name_((target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string()),
        fd_(mkostemp(name_.data(), O_CLOEXEC)) {
    if (!fd_) cannot_write(target_, errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!renamed_) unlink(name_.c_str());
  }

  void write_all(std::string_view text) { write_whole(fd_.get(), text, target_); }

  void become_target() {
    if (fchmod(fd_.get(), 0644) != 0 || fsync(fd_.get()) != 0 ||
        rename(name_.c_str(), target_.c_str()) != 0) {
      cannot_write(target_, errno);
    }
    renamed_ = true;
    sync_directory();
  }

 private:
  // So that the rename survives a power cut; a file system that cannot is no reason to fail.
  void sync_directory() const {
    const UniqueFd directory(
        open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory) fsync(directory.get());
  }

  const fs::path& target_;
  std::string name_;
  UniqueFd fd_;
  bool renamed_ = false;
};

}  // namespace

void check_replaceable(const std::string& path) {
  if (is_special(path)) {
    open_special(path);
    return;
  }
  const fs::path target = target_of(path);
  const TemporaryFile probe(target);
}

void replace_file(const std::string& path, std::string_view text) {
  if (is_special(path)) {
    const UniqueFd fd = open_special(path);
    write_whole(fd.get(), text, path);
    return;
  }
  const fs::path target = target_of(path);
  TemporaryFile file(target);
  file.write_all(text);
  file.become_target();
}

}  // namespace kaccel::calibrate
