// System calls that no pthread_cancel(3) can interrupt.
//
// libc makes sendmsg, recv, accept and close cancellation points. OpenSSL's functions are none, so
// an application may cancel a thread that is inside one, and the unwinding would end in our
// noexcept functions, or lose a session. The bare calls are no cancellation points.
#pragma once

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace kaccel::kernel {

// For architectures without the call of its own (socketcall(2), as on i386 before Linux 4.3).
class CancellationOff {
 public:
  CancellationOff() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  CancellationOff(const CancellationOff&) = delete;
  CancellationOff& operator=(const CancellationOff&) = delete;
  ~CancellationOff() { ::pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Return values and errno as the libc functions of those names.
inline ssize_t send_message(int socket, const msghdr* message, int flags) noexcept {
#ifdef SYS_sendmsg
  return static_cast<ssize_t>(::syscall(SYS_sendmsg, socket, message, flags));
#else
  const CancellationOff off;
  return ::sendmsg(socket, message, flags);
#endif
}

inline ssize_t receive(int socket, void* buffer, std::size_t size, int flags) noexcept {
#ifdef SYS_recvfrom
  return static_cast<ssize_t>(
      ::syscall(SYS_recvfrom, socket, buffer, size, flags, nullptr, nullptr));
#else
  const CancellationOff off;
  return ::recv(socket, buffer, size, flags);
#endif
}

inline int accept_closed_on_exec(int socket) noexcept {
  const CancellationOff off;
  return ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
}

inline void close_descriptor(int descriptor) noexcept {
  const CancellationOff off;
  ::close(descriptor);
}

}  // namespace kaccel::kernel
