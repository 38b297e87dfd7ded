#include "tests/life/own_descriptors.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#ifndef AF_ALG
#define AF_ALG 38
#endif

namespace kaccel::testing {
namespace {

bool is_alg_socket(int number) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(number, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_ALG;
}

}  // namespace

std::vector<int> own_descriptors() {
  std::vector<int> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    numbers.push_back(std::stoi(entry.path().filename().string()));
  }
  if (error) throw std::runtime_error("/proc/self/fd: " + error.message());
  // The directory's own is closed by now.
  std::erase_if(numbers, [](int number) { return ::fcntl(number, F_GETFD) < 0; });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<int> own_alg_sockets() {
  std::vector<int> numbers = own_descriptors();
  std::erase_if(numbers, [](int number) { return !is_alg_socket(number); });
  return numbers;
}

void close_all_but(int kept) {
  for (const int number : own_descriptors()) {
    if (number > 2 && number != kept) ::close(number);
  }
}

}  // namespace kaccel::testing
