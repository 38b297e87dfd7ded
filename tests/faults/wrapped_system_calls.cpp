// What the linker puts in place of the system calls' functions (--wrap): a socket of FakeAfAlg's is
// its, every other number is the kernel's.

#include <linux/if_alg.h>
#include <sys/syscall.h>

#include <cstdarg>

#include "tests/faults/fake_af_alg.hpp"
#include "tests/faults/real_system_calls.hpp"

namespace {

kaccel::testing::FakeAfAlg* fake_of(int number) {
  auto* fake = kaccel::testing::FakeAfAlg::current();
  return fake != nullptr && fake->knows(number) ? fake : nullptr;
}

template <class T>
T pointer(long argument) {
  return reinterpret_cast<T>(argument);
}

}  // namespace

extern "C" {

int __wrap_socket(int domain, int type, int protocol) {
  auto* fake = kaccel::testing::FakeAfAlg::current();
  return fake != nullptr && domain == AF_ALG ? fake->socket()
                                             : __real_socket(domain, type, protocol);
}

int __wrap_bind(int socket, const sockaddr* address, socklen_t size) {
  auto* fake = fake_of(socket);
  return fake != nullptr ? fake->bind(socket, address) : __real_bind(socket, address, size);
}

int __wrap_setsockopt(int socket, int level, int option, const void* value, socklen_t size) {
  auto* fake = fake_of(socket);
  return fake != nullptr && level == SOL_ALG && option == ALG_SET_KEY
             ? fake->set_key(socket, value, size)
             : __real_setsockopt(socket, level, option, value, size);
}

int __wrap_getsockopt(int socket, int level, int option, void* value, socklen_t* size) {
  auto* fake = fake_of(socket);
  return fake != nullptr ? fake->get_option(socket, level, option, value, size)
                         : __real_getsockopt(socket, level, option, value, size);
}

int __wrap_accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  auto* fake = fake_of(socket);
  return fake != nullptr ? fake->accept(socket) : __real_accept4(socket, address, size, flags);
}

int __wrap_fstat(int number, struct stat* result) {
  auto* fake = fake_of(number);
  return fake != nullptr ? fake->stat(number, result) : __real_fstat(number, result);
}

int __wrap_close(int number) {
  auto* fake = fake_of(number);
  return fake != nullptr ? fake->close(number) : __real_close(number);
}

int __wrap_fcntl(int number, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  auto* fake = fake_of(number);
  return fake != nullptr && command == F_DUPFD_CLOEXEC
             ? fake->duplicate(number, static_cast<int>(argument))
             : __real_fcntl(number, command, argument);
}

long __wrap_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const auto& [a, b, c, d, e, f] = arguments;
  if (number == SYS_sendmsg || number == SYS_recvfrom) {
    const auto socket = static_cast<int>(a);
    if (auto* fake = fake_of(socket)) {
      return number == SYS_sendmsg
                 ? fake->send(socket, pointer<const msghdr*>(b), static_cast<int>(c))
                 : fake->receive(socket, pointer<void*>(b), static_cast<std::size_t>(c),
                                 static_cast<int>(d));
    }
  }
  return __real_syscall(number, a, b, c, d, e, f);
}

}  // extern "C"
