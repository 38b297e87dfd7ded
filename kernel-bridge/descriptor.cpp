#include "kernel-bridge/descriptor.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "kernel-bridge/system_calls.hpp"

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

namespace kaccel::kernel {
namespace {

// 0 where the number is no socket or the kernel knows no cookies; no socket's cookie is 0.
std::uint64_t socket_cookie(int number) noexcept {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::getsockopt(number, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) return 0;
  return cookie;
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)),
      cookie_(other.cookie_),
      device_(other.device_),
      inode_(other.inode_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = std::exchange(other.number_, -1);
    cookie_ = other.cookie_;
    device_ = other.device_;
    inode_ = other.inode_;
  }
  return *this;
}

bool Descriptor::adopt(int number) noexcept {
  reset();
  struct stat identity;
  if (::fstat(number, &identity) != 0) {
    close_descriptor(number);
    return false;
  }
  number_ = number;
  cookie_ = socket_cookie(number);
  device_ = identity.st_dev;
  inode_ = identity.st_ino;
  return true;
}

bool Descriptor::intact() const noexcept {
  if (number_ < 0) return false;
  if (cookie_ != 0) {
    const std::uint64_t cookie = socket_cookie(number_);
    if (cookie != 0) [[likely]]
      return cookie == cookie_;
  }
  // No cookie: this is no socket any more, or a policy that came later does not let one ask.
  struct stat identity;
  return ::fstat(number_, &identity) == 0 && identity.st_ino == inode_ &&
         identity.st_dev == device_;
}

bool Descriptor::reset() noexcept {
  if (number_ < 0) return true;
  const bool is_mine = intact();
  if (is_mine) close_descriptor(number_);
  number_ = -1;
  return is_mine;
}

}  // namespace kaccel::kernel
