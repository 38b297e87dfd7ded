// The calls behind the wrapped ones.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

extern "C" {
int __real_socket(int domain, int type, int protocol);
int __real_bind(int socket, const sockaddr* address, socklen_t size);
int __real_setsockopt(int socket, int level, int option, const void* value, socklen_t size);
int __real_getsockopt(int socket, int level, int option, void* value, socklen_t* size);
int __real_accept4(int socket, sockaddr* address, socklen_t* size, int flags);
int __real_fstat(int number, struct stat* result);
int __real_close(int number);
int __real_fcntl(int number, int command, ...);
long __real_syscall(long number, ...);
}

namespace kaccel::testing::real {

inline int socket(int domain, int type, int protocol) {
  return __real_socket(domain, type, protocol);
}
inline int getsockopt(int socket, int level, int option, void* value, socklen_t* size) {
  return __real_getsockopt(socket, level, option, value, size);
}
inline int fstat(int number, struct stat* result) {
  return __real_fstat(number, result);
}
// The least free number from `least` on.
inline int duplicate(int number, int least) {
  return __real_fcntl(number, F_DUPFD_CLOEXEC, least);
}
inline int close(int number) {
  return __real_close(number);
}

}  // namespace kaccel::testing::real
