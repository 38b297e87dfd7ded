#include "tests/faults/possible_faults.hpp"

#include <array>
#include <cerrno>

namespace kaccel::testing {
namespace {

using Kind = SystemCallFault::Kind;

constexpr SystemCallFault fails(int error) {
  return {Kind::error, error};
}
constexpr SystemCallFault fails_half_way(int error) {
  return {Kind::error_after_half, error};
}

// Of every call: EPERM and EACCES of the security modules; EPERM, EACCES and ENOSYS of seccomp, and
// EINTR where a supervisor answers for the kernel (seccomp_unotify(2)). Both may answer any other
// number as well.

// net/socket.c, af_alg.c (alg_create). EAFNOSUPPORT also where systemd restricts families.
constexpr std::array at_socket{
    fails(EAFNOSUPPORT), fails(ESOCKTNOSUPPORT), fails(EPROTONOSUPPORT), fails(EPERM),
    fails(EACCES),       fails(ENOSYS),          fails(EMFILE),          fails(ENFILE),
    fails(ENOMEM),       fails(ENOBUFS),         fails(EINVAL),          fails(EINTR),
};

// fcntl(F_DUPFD_CLOEXEC), fs/fcntl.c: EINVAL where RLIMIT_NOFILE permits no number above 2.
constexpr std::array at_duplicate{
    fails(EMFILE), fails(EINVAL), fails(ENOMEM),
    fails(EBADF),  fails(EPERM),  fails(EACCES),
    fails(ENOSYS), fails(EINTR),  SystemCallFault{Kind::is_closed},
};

// alg_bind, crypto_alloc_skcipher and _ahash: the driver is looked for, loaded and tested, and
// makes ready what it has for a transform.
constexpr std::array at_bind{
    fails(ENOENT), fails(ELIBBAD), fails(EINTR),    fails(EAGAIN), fails(ETIMEDOUT), fails(ENOMEM),
    fails(EINVAL), fails(EACCES),  fails(EPERM),    fails(ENOSYS), fails(ENODEV),    fails(EIO),
    fails(EBUSY),  fails(EBADF),   fails(ENOTSOCK), fails(ENXIO),  fails(EFAULT),    fails(ENOSPC),
};

// alg_setkey and the drivers' setkey. ENOSYS: ahash_nosetkey.
constexpr std::array at_set_key{
    fails(EBUSY),        fails(EINVAL),     fails(ENOKEY),      fails(EKEYREJECTED), fails(ENOMEM),
    fails(ENOPROTOOPT),  fails(EOPNOTSUPP), fails(EACCES),      fails(EPERM),        fails(ENOSYS),
    fails(EFAULT),       fails(EIO),        fails(EINPROGRESS), fails(ETIMEDOUT),    fails(EBADF),
    fails(ENOTSOCK),     fails(ENXIO),      fails(ENODEV),      fails(EAGAIN),       fails(EINTR),
    fails_half_way(EIO),
};

// net/socket.c (__sys_accept4), af_alg_accept, skcipher_accept_parent, hash_accept_parent.
constexpr std::array at_accept{
    fails(EINTR),  fails(EMFILE), fails(ENFILE),   fails(ENOMEM),     fails(ENOBUFS),
    fails(ENOKEY), fails(EINVAL), fails(EACCES),   fails(EPERM),      fails(ENOSYS),
    fails(EAGAIN), fails(EBADF),  fails(ENOTSOCK), fails(EOPNOTSUPP), fails(ECONNABORTED),
};

// af_alg_sendmsg; a hash's driver works here and what it answers comes out here: ENXIO of qce's
// engine, ENOSPC of a full queue, ESHUTDOWN of crypto_engine.c.
constexpr std::array at_send{
    fails(EINTR),
    fails(EAGAIN),
    fails(ENOMEM),
    fails(ENOBUFS),
    fails(EINVAL),
    fails(ENOKEY),
    fails(EFAULT),
    fails(EMSGSIZE),
    fails(EPIPE),
    fails(EACCES),
    fails(EPERM),
    fails(ENOSYS),
    fails(EBADF),
    fails(ENOTSOCK),
    fails(EOPNOTSUPP),
    fails(EBUSY),
    fails(EINPROGRESS),
    fails(EBADMSG),
    fails(EIO),
    fails(ENXIO),
    fails(ETIMEDOUT),
    fails(ENODEV),
    fails(ENOSPC),
    fails(ESHUTDOWN),
    fails_half_way(EIO),
    fails_half_way(ENXIO),
    fails_half_way(ENOMEM),
    SystemCallFault{Kind::moves, 0},
    SystemCallFault{Kind::moves, 128},
    SystemCallFault{Kind::moves_one_less},
    SystemCallFault{Kind::says_more},
    SystemCallFault{Kind::loses},
};

// skcipher_recvmsg, hash_recvmsg: what the driver answers, at once or later (crypto_wait_req),
// EBUSY and ENOMEM among it. EHWPOISON: the output lies in broken memory.
constexpr std::array at_receive{
    fails(EINTR),
    fails(EAGAIN),
    fails(ENOMEM),
    fails(ENOBUFS),
    fails(EBUSY),
    fails(EINPROGRESS),
    fails(EINVAL),
    fails(ENOKEY),
    fails(EBADMSG),
    fails(EMSGSIZE),
    fails(EFAULT),
    fails(EHWPOISON),
    fails(EIO),
    fails(ENXIO),
    fails(ETIMEDOUT),
    fails(ENODEV),
    fails(ENOSPC),
    fails(ESHUTDOWN),
    fails(EOPNOTSUPP),
    fails(EACCES),
    fails(EPERM),
    fails(ENOSYS),
    fails(EBADF),
    fails(ENOTSOCK),
    fails_half_way(EBUSY),
    fails_half_way(ENOMEM),
    fails_half_way(EIO),
    fails_half_way(ENXIO),
    fails_half_way(EINVAL),
    SystemCallFault{Kind::moves, 0},
    SystemCallFault{Kind::moves, 128},
    SystemCallFault{Kind::moves_one_less},
    SystemCallFault{Kind::says_more},
};

constexpr std::array at_get_option{
    fails(ENOPROTOOPT),
    fails(EINVAL),
    fails(EFAULT),
    fails(EACCES),
    fails(EPERM),
    fails(ENOSYS),
    fails(ENOMEM),
    fails(EBADF),
    fails(ENOTSOCK),
    fails(EINTR),
    SystemCallFault{Kind::is_closed},
    SystemCallFault{Kind::is_reused},
};

constexpr std::array at_stat{
    fails(EBADF),
    fails(EACCES),
    fails(EPERM),
    fails(ENOSYS),
    fails(ENOMEM),
    fails(EFAULT),
    fails(EOVERFLOW),
    fails(EINTR),
    SystemCallFault{Kind::is_closed},
    SystemCallFault{Kind::is_reused},
};

// Reused before its close: kaccel asked whose it was just before, and can not do better.
constexpr std::array at_close{
    fails(EINTR),
    fails(EIO),
    fails(EBADF),
    fails(EPERM),
    fails(EACCES),
    fails(ENOSYS),
    SystemCallFault{Kind::is_closed},
};

}  // namespace

std::span<const SystemCallFault> possible_faults(SystemCall call) {
  switch (call) {
    case SystemCall::socket:
      return at_socket;
    case SystemCall::duplicate:
      return at_duplicate;
    case SystemCall::bind:
      return at_bind;
    case SystemCall::set_key:
      return at_set_key;
    case SystemCall::accept:
      return at_accept;
    case SystemCall::send:
      return at_send;
    case SystemCall::receive:
      return at_receive;
    case SystemCall::get_option:
      return at_get_option;
    case SystemCall::stat:
      return at_stat;
    case SystemCall::close:
      return at_close;
  }
  return {};
}

}  // namespace kaccel::testing
