#include "provider/statistics_file.hpp"

#include <errno.h>  // program_invocation_short_name
#include <fcntl.h>
#include <stdlib.h>  // mkostemp
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace kaccel {

// Other processes add to it at the same time. Where 64-bit atomics need a lock (some 32-bit
// machines), that lock is each process's own and now and then a count is lost.
struct StatisticsFile::Contents {
  static constexpr std::string_view kind = "kaccel statistics 1\n";

  std::array<char, 24> head;
  std::uint64_t size;  // of this structure, since a version with other rows has another
  Counters counters;

  bool is_ours() const noexcept {
    return size == sizeof(Contents) && std::string_view(head.data(), kind.size()) == kind;
  }
};

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

std::string reason(int error) {
  return std::strerror(error);
}

// Any user may call a program as he likes.
std::string file_name() {
  constexpr std::size_t longest = 64;
  std::string name(std::string_view(program_invocation_short_name).substr(0, longest));
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '+';
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    // A hidden file is one in the making.
    if (!is_plain(name[i]) && (name[i] != '.' || i == 0)) name[i] = '_';
  }
  return (name.empty() ? "unknown" : name) + "." + std::to_string(::geteuid());
}

// O_NONBLOCK for a FIFO that someone put there.
Descriptor open_existing(const std::string& path, int access) noexcept {
  return Descriptor(::open(path.c_str(), access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool write_all(int fd, const void* data, std::size_t size) noexcept {
  return ::write(fd, data, size) == static_cast<ssize_t>(size);
}

// Appears under its name only when it is complete. Another process may be first: that is as good.
// Returns errno, or 0.
template <class Contents>
int create(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  // Beyond the limit a write would be a signal, which ends the program.
  rlimit largest{};
  if (::getrlimit(RLIMIT_FSIZE, &largest) != 0 || largest.rlim_cur < sizeof(Contents)) return EFBIG;
  std::string draft = directory + "/." + name + ".XXXXXX";
  const Descriptor fd(::mkostemp(draft.data(), O_CLOEXEC));
  // Any umask may be in force.
  if (!fd || ::fchmod(fd.get(), 0600) != 0) return errno;
  // Memory that the file system could not give later would be a SIGBUS.
  int error = ::posix_fallocate(fd.get(), 0, sizeof(Contents));
  if (error == 0) {
    std::array<char, sizeof(Contents::head)> head{};
    std::copy(Contents::kind.begin(), Contents::kind.end(), head.begin());
    const std::uint64_t size = sizeof(Contents);
    if (!write_all(fd.get(), head.data(), head.size()) ||
        !write_all(fd.get(), &size, sizeof size) ||
        (::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST)) {
      error = errno;
    }
  }
  ::unlink(draft.c_str());
  return error;
}

}  // namespace

StatisticsFile::~StatisticsFile() {
  if (file_ != nullptr) ::munmap(file_, sizeof(Contents));
}

Counters* StatisticsFile::counters() const noexcept {
  return file_ != nullptr ? &file_->counters : nullptr;
}

StatisticsFile StatisticsFile::open(const std::string& directory, std::string& problem) {
  StatisticsFile result;
  const std::string name = file_name();
  const std::string path = directory + "/" + name;
  const auto fail = [&](const std::string& why) {
    problem = path + ": " + why;
    return std::move(result);
  };
  for (int attempt = 0; attempt < 4; ++attempt) {
    Descriptor fd = open_existing(path, O_RDWR);
    if (!fd) {
      if (errno != ENOENT) return fail(reason(errno));
      if (const int error = create<Contents>(directory, name)) return fail(reason(error));
      continue;
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return fail(reason(errno));
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
      return fail("is not a file of this user: remove it");
    }
    if (status.st_size == static_cast<off_t>(sizeof(Contents))) {
      void* memory =
          ::mmap(nullptr, sizeof(Contents), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
      if (memory == MAP_FAILED) return fail(reason(errno));
      result.file_ = static_cast<Contents*>(memory);
      if (result.file_->is_ours()) return result;
      result = StatisticsFile();
    }
    // Another version's; processes that still run with it keep their own. Another process may have
    // put ours in its place meanwhile.
    struct stat now {};
    const bool is_same = ::lstat(path.c_str(), &now) == 0 && now.st_ino == status.st_ino;
    if (is_same && ::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(reason(errno));
  }
  return fail("is being replaced by another process");
}

std::optional<Statistics> read_statistics(const std::string& path, std::string& problem) {
  using Contents = StatisticsFile::Contents;
  const Descriptor fd = open_existing(path, O_RDONLY);
  alignas(Contents) std::array<char, sizeof(Contents)> bytes{};
  const ssize_t size = fd ? ::read(fd.get(), bytes.data(), bytes.size()) : -1;
  if (size < 0) {
    problem = reason(errno);
    return std::nullopt;
  }
  const auto& contents = *reinterpret_cast<const Contents*>(bytes.data());
  if (size != static_cast<ssize_t>(sizeof(Contents)) || !contents.is_ours()) {
    problem = "is no statistics file of this version of kaccel";
    return std::nullopt;
  }
  const Counters& counters = contents.counters;
  Statistics result;
  result.sessions_opened = counters.sessions.sessions_opened.load();
  result.keys_loaded = counters.sessions.keys_loaded.load();
  result.requests = counters.sessions.requests.load();
  std::transform(counters.algorithms.begin(), counters.algorithms.end(), result.algorithms.begin(),
                 [](const UsageCounters& usage) {
                   return Statistics::Usage{usage.hardware_calls.load(),
                                            usage.hardware_bytes.load(), usage.fallbacks.load()};
                 });
  return result;
}

}  // namespace kaccel
