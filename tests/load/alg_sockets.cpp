#include "tests/load/alg_sockets.hpp"

#include <sys/socket.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#ifndef AF_ALG
#define AF_ALG 38
#endif

namespace kaccel::testing {

std::size_t count_alg_sockets() {
  std::error_code error;
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int number = std::stoi(entry.path().filename().string());
    int domain = 0;
    socklen_t size = sizeof domain;
    if (::getsockopt(number, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_ALG) {
      ++count;
    }
  }
  if (error) throw std::runtime_error("/proc/self/fd: " + error.message());
  return count;
}

}  // namespace kaccel::testing
