// A socket descriptor that knows which socket it is.
//
// Daemons close every descriptor they find (closefrom(3)), and the number may then be someone
// else's TCP connection: a write there would leak data, a close would cut it. So the socket's
// identity is remembered and compared before each use: its cookie (SO_COOKIE, Linux 4.12), a number
// no other socket gets, or where that is missing device and inode, which take twice as long to ask.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace kaccel::kernel {

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  // Takes over an open descriptor, just made. False (and closed) when it cannot be identified.
  bool adopt(int number) noexcept;

  // Whether the number still refers to the socket that was adopted. One system call.
  bool intact() const noexcept;

  // Forgets it, open as it is.
  void abandon() noexcept { number_ = -1; }

  // Closes it, unless the number has become someone else's. False where it was not closed: it may
  // still be open, if the kernel would not say whose the number is. True for none.
  bool reset() noexcept;

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
  std::uint64_t cookie_ = 0;  // 0: this kernel gives none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace kaccel::kernel
