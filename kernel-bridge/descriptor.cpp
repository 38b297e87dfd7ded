#include "kernel-bridge/descriptor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace kaccel::kernel {

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), device_(other.device_), inode_(other.inode_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = std::exchange(other.number_, -1);
    device_ = other.device_;
    inode_ = other.inode_;
  }
  return *this;
}

bool Descriptor::adopt(int number) noexcept {
  reset();
  struct stat identity;
  if (::fstat(number, &identity) != 0) {
    ::close(number);
    return false;
  }
  number_ = number;
  device_ = identity.st_dev;
  inode_ = identity.st_ino;
  return true;
}

bool Descriptor::intact() const noexcept {
  struct stat identity;
  return number_ >= 0 && ::fstat(number_, &identity) == 0 && identity.st_ino == inode_ &&
         identity.st_dev == device_;
}

void Descriptor::reset() noexcept {
  if (intact()) ::close(number_);
  number_ = -1;
}

}  // namespace kaccel::kernel
