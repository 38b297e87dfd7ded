// The application's errno across kaccel's system calls.
//
// OpenSSL's ciphers leave errno alone. A system call that fails, and is answered by software, must
// not show there either.
#pragma once

#include <cerrno>

namespace kaccel::kernel {

// Puts errno back at the end of its scope.
class KeptErrno {
 public:
  KeptErrno() noexcept : before_(errno) {}
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = before_; }

 private:
  const int before_;
};

}  // namespace kaccel::kernel
