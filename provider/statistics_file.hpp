// The counters of all processes of one program and user, in a file that they share.
//
// Mapped when the provider is loaded. After that counting needs no system call and no permission,
// so it goes on after a fork, in a chroot, with dropped privileges or in a sandbox, and nothing is
// lost when a process is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "provider/counters.hpp"

namespace kaccel {

// A mapping of DIRECTORY/PROGRAM.UID: PROGRAM is the program's short name, UID its effective user.
// The file is the user's own (mode 0600) and starts at zero.
class StatisticsFile {
 public:
  StatisticsFile() = default;
  StatisticsFile(StatisticsFile&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  StatisticsFile& operator=(StatisticsFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~StatisticsFile();

  // Where that cannot be, counters() is nullptr and `problem` says why, naming the path.
  // `directory` must exist; one for several users is like /tmp: writable to all and sticky. May
  // throw std::bad_alloc.
  static StatisticsFile open(const std::string& directory, std::string& problem);

  Counters* counters() const noexcept;

 private:
  struct Contents;
  Contents* file_ = nullptr;

  friend std::optional<struct Statistics> read_statistics(const std::string& path,
                                                          std::string& problem);
};

// What such a file held when it was read.
struct Statistics {
  struct Usage {
    std::uint64_t hardware_calls = 0;
    std::uint64_t hardware_bytes = 0;
    std::uint64_t fallbacks = 0;
  };
  std::uint64_t sessions_opened = 0;
  std::uint64_t keys_loaded = 0;
  std::uint64_t requests = 0;
  std::array<Usage, algorithm_table.size()> algorithms;
};

// Nothing, and `problem` says why in a phrase, where `path` cannot be read or is no such file of
// this version of kaccel. May throw std::bad_alloc.
std::optional<Statistics> read_statistics(const std::string& path, std::string& problem);

}  // namespace kaccel
