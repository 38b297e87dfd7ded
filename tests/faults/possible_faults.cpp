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

// net/socket.c, af_alg.c (alg_create); seccomp and the security modules.
constexpr std::array at_socket{
    fails(EAFNOSUPPORT), fails(ESOCKTNOSUPPORT), fails(EPROTONOSUPPORT), fails(EPERM),
    fails(EACCES),       fails(ENOSYS),          fails(EMFILE),          fails(ENFILE),
    fails(ENOMEM),       fails(ENOBUFS),         fails(EINVAL),
};

// alg_bind, crypto_alloc_skcipher and _ahash: the driver is looked for, loaded and tested.
constexpr std::array at_bind{
    fails(ENOENT), fails(ELIBBAD), fails(EINTR),  fails(EAGAIN), fails(ETIMEDOUT),
    fails(ENOMEM), fails(EINVAL),  fails(EACCES), fails(EPERM),  fails(ENOSYS),
    fails(ENODEV), fails(EIO),     fails(EBUSY),  fails(EBADF),  fails(ENOTSOCK),
};

// alg_setkey and the drivers' setkey.
constexpr std::array at_set_key{
    fails(EBUSY),     fails(EINVAL),      fails(ENOKEY),     fails(EKEYREJECTED),
    fails(ENOMEM),    fails(ENOPROTOOPT), fails(EOPNOTSUPP), fails(EACCES),
    fails(EPERM),     fails(EFAULT),      fails(EIO),        fails(EINPROGRESS),
    fails(ETIMEDOUT), fails(EBADF),       fails(ENOTSOCK),   fails_half_way(EIO),
};

// net/socket.c (__sys_accept4), af_alg_accept, skcipher_accept_parent, hash_accept_parent.
constexpr std::array at_accept{
    fails(EINTR),  fails(EMFILE), fails(ENFILE),   fails(ENOMEM),     fails(ENOBUFS),
    fails(ENOKEY), fails(EINVAL), fails(EACCES),   fails(EPERM),      fails(ENOSYS),
    fails(EAGAIN), fails(EBADF),  fails(ENOTSOCK), fails(EOPNOTSUPP), fails(ECONNABORTED),
};

// af_alg_sendmsg; a hash's driver works here and what it answers comes out here.
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
    fails(EBADF),
    fails(ENOTSOCK),
    fails(EBUSY),
    fails(EINPROGRESS),
    fails(EIO),
    fails(ETIMEDOUT),
    fails(ENODEV),
    fails_half_way(EIO),
    fails_half_way(ENOMEM),
    SystemCallFault{Kind::moves, 0},
    SystemCallFault{Kind::moves, 128},
    SystemCallFault{Kind::moves_one_less},
    SystemCallFault{Kind::says_more},
    SystemCallFault{Kind::loses},
};

// skcipher_recvmsg, hash_recvmsg: what the driver answers, at once or later (crypto_wait_req),
// EBUSY and ENOMEM among it.
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
    fails(EFAULT),
    fails(EIO),
    fails(ETIMEDOUT),
    fails(ENODEV),
    fails(ENOSPC),
    fails(EACCES),
    fails(EPERM),
    fails(EBADF),
    fails(ENOTSOCK),
    fails_half_way(EBUSY),
    fails_half_way(ENOMEM),
    fails_half_way(EIO),
    fails_half_way(EINVAL),
    SystemCallFault{Kind::moves, 0},
    SystemCallFault{Kind::moves, 128},
    SystemCallFault{Kind::moves_one_less},
    SystemCallFault{Kind::says_more},
};

constexpr std::array at_get_option{
    fails(ENOPROTOOPT),
    fails(EACCES),
    fails(EPERM),
    fails(ENOSYS),
    fails(ENOMEM),
    fails(EBADF),
    fails(ENOTSOCK),
    SystemCallFault{Kind::is_closed},
    SystemCallFault{Kind::is_reused},
};

constexpr std::array at_stat{
    fails(EBADF), fails(EACCES), fails(EPERM), fails(ENOSYS), fails(ENOMEM), fails(EOVERFLOW),
};

constexpr std::array at_close{fails(EINTR), fails(EIO), fails(EBADF), fails(EPERM)};

}  // namespace

std::span<const SystemCallFault> possible_faults(SystemCall call) {
  switch (call) {
    case SystemCall::socket:
      return at_socket;
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
