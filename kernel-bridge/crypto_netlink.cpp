#include "kernel-bridge/crypto_netlink.hpp"

#include <libmnl/libmnl.h>
#include <linux/cryptouser.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstddef>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

namespace kaccel::kernel {
namespace {

// The kernel sizes a dump's datagrams by the number of algorithms, up to 64 KiB less one byte, not
// by libmnl's usual 8 KiB; a smaller buffer would lose the rest of each.
constexpr std::size_t datagram_size = std::size_t{64} << 10;

constexpr std::uint32_t dump_sequence = 1;

struct CloseSocket {
  void operator()(mnl_socket* socket) const noexcept { mnl_socket_close(socket); }
};
using Socket = std::unique_ptr<mnl_socket, CloseSocket>;

// libmnl's callback: C calls it, so nothing may be thrown out of it.
int add_driver(const nlmsghdr* message, void* data) noexcept {
  if (mnl_nlmsg_get_payload_len(message) < sizeof(crypto_user_alg)) return MNL_CB_OK;
  crypto_user_alg algorithm;
  std::memcpy(&algorithm, mnl_nlmsg_get_payload(message), sizeof(algorithm));
  // A larval carries the name of the driver it stands for, with flags that are not the driver's.
  if ((algorithm.cru_flags & crypto_flag::larval) != 0) return MNL_CB_OK;

  const auto length = strnlen(algorithm.cru_driver_name, sizeof(algorithm.cru_driver_name));
  if (length == 0) return MNL_CB_OK;
  try {
    auto& flags = *static_cast<DriverFlags*>(data);
    flags.insert_or_assign(std::string(algorithm.cru_driver_name, length), algorithm.cru_flags);
  } catch (const std::exception&) {
    return MNL_CB_ERROR;
  }
  return MNL_CB_OK;
}

Socket open_socket() noexcept {
  Socket socket(mnl_socket_open2(NETLINK_CRYPTO, SOCK_CLOEXEC));
  if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0) return {};
  // The kernel answers at once or not at all; discovery must not wait on a socket that is silent.
  constexpr timeval patience{.tv_sec = 2, .tv_usec = 0};
  if (setsockopt(mnl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &patience,
                 sizeof(patience)) != 0) {
    return {};
  }
  return socket;
}

bool ask_for_dump(const Socket& socket) noexcept {
  alignas(nlmsghdr) char buffer[MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(crypto_user_alg))];
  nlmsghdr* const request = mnl_nlmsg_put_header(buffer);
  request->nlmsg_type = CRYPTO_MSG_GETALG;
  request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request->nlmsg_seq = dump_sequence;
  mnl_nlmsg_put_extra_header(request, sizeof(crypto_user_alg));
  return mnl_socket_sendto(socket.get(), request, request->nlmsg_len) >= 0;
}

void receive_dump(const Socket& socket, DriverFlags& flags) {
  std::vector<std::uint8_t> buffer(datagram_size);
  const std::uint32_t port = mnl_socket_get_portid(socket.get());
  // Bounded in time as well as in silence: a kernel that never says "done" must not hold us.
  const std::time_t give_up = std::time(nullptr) + 2;
  do {
    const auto got = mnl_socket_recvfrom(socket.get(), buffer.data(), buffer.size());
    if (got <= 0) return;
    const std::span datagram(buffer.data(), static_cast<std::size_t>(got));
    if (parse_dump_datagram(datagram, dump_sequence, port, flags) != DumpState::more) return;
  } while (std::time(nullptr) <= give_up);
}

}  // namespace

DumpState parse_dump_datagram(std::span<const std::uint8_t> datagram, std::uint32_t sequence,
                              std::uint32_t port, DriverFlags& flags) noexcept {
  switch (mnl_cb_run(datagram.data(), datagram.size(), sequence, port, add_driver, &flags)) {
    case MNL_CB_OK:
      return DumpState::more;
    case MNL_CB_STOP:
      return DumpState::done;
    default:
      return DumpState::failed;
  }
}

DriverFlags read_driver_flags() noexcept {
  DriverFlags flags;
  try {
    if (const Socket socket = open_socket(); socket && ask_for_dump(socket)) {
      receive_dump(socket, flags);
    }
  } catch (const std::exception&) {
    // Out of memory: the flags there are serve, and /proc/crypto decides about the others.
  }
  return flags;
}

}  // namespace kaccel::kernel
