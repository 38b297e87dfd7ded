#include "kernel-bridge/af_alg_transport.hpp"

#include <fcntl.h>
#include <linux/if_alg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "kernel-bridge/descriptor.hpp"
#include "kernel-bridge/system_calls.hpp"

#ifndef AF_ALG
#define AF_ALG 38
#endif
#ifndef SOL_ALG
#define SOL_ALG 279
#endif

namespace kaccel::kernel {

Status status_of_errno(int error_number) noexcept {
  switch (error_number) {
    case EAFNOSUPPORT:
    case ESOCKTNOSUPPORT:
    case EPROTONOSUPPORT:
      return {Failure::no_af_alg, error_number};
    case EPERM:
    case EACCES:
    case ENOSYS:
      return {Failure::denied, error_number};
    case ENOENT:
      return {Failure::no_driver, error_number};
    case EBUSY:
      return {Failure::busy, error_number};
    case EMFILE:
    case ENFILE:
      return {Failure::no_descriptors, error_number};
    case ENOMEM:
    case ENOBUFS:
      return {Failure::no_memory, error_number};
    case EBADF:
    case ENOTSOCK:
      return {Failure::descriptor_lost, error_number};
    default:
      return {Failure::driver_error, error_number};
  }
}

namespace {

// Repeats a system call that a signal interrupted before it did anything.
template <class Call>
auto uninterrupted(Call call) noexcept {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

std::size_t socket_buffer(int socket, int which) noexcept {
  int size = 0;
  socklen_t length = sizeof size;
  if (::getsockopt(socket, SOL_SOCKET, which, &size, &length) != 0 || size < 0) return 0;
  return static_cast<std::size_t>(size);
}

// The control message of a request: the IV, where there is one, and the operation. Laid out once a
// session; a request only writes the IV.
//
// With an IV the operation is set once and decryption leaves it out: the kernel takes a control
// message without one for it (af_alg.c, af_alg_sendmsg), and 36 bytes are the most that it copies
// without allocating memory (net/socket.c, ____sys_sendmsg), 0.4 us in the lab.
class ControlMessage {
 public:
  explicit ControlMessage(std::size_t iv_size) noexcept {
    msghdr message{};
    message.msg_control = buffer_.data();
    message.msg_controllen = buffer_.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (iv_size != 0) {
      header->cmsg_level = SOL_ALG;
      header->cmsg_type = ALG_SET_IV;
      header->cmsg_len = CMSG_LEN(sizeof(af_alg_iv) + iv_size);
      const auto length = static_cast<std::uint32_t>(iv_size);
      std::memcpy(CMSG_DATA(header) + offsetof(af_alg_iv, ivlen), &length, sizeof length);
      iv_ = CMSG_DATA(header) + offsetof(af_alg_iv, iv);
      size_of_iv_ = CMSG_LEN(sizeof(af_alg_iv) + iv_size);
      size_ = CMSG_SPACE(sizeof(af_alg_iv) + iv_size);
      header = CMSG_NXTHDR(&message, header);
    }
    header->cmsg_level = SOL_ALG;
    header->cmsg_type = ALG_SET_OP;
    header->cmsg_len = CMSG_LEN(sizeof(std::uint32_t));
    operation_ = CMSG_DATA(header);
    set_operation(Direction::encrypt);
    size_ += CMSG_SPACE(sizeof(std::uint32_t));
  }
  ControlMessage(const ControlMessage&) = delete;
  ControlMessage& operator=(const ControlMessage&) = delete;

  // Returns how many bytes of data() to send.
  std::size_t fill(Direction direction, std::span<const std::uint8_t> iv) noexcept {
    if (iv.size() == 16) {  // a copy of known length is two instructions
      std::memcpy(iv_, iv.data(), 16);
    } else if (!iv.empty()) {
      std::memcpy(iv_, iv.data(), iv.size());
    }
    if (size_of_iv_ != 0) return direction == Direction::decrypt ? size_of_iv_ : size_;
    set_operation(direction);
    return size_;
  }

  void* data() noexcept { return buffer_.data(); }

 private:
  void set_operation(Direction direction) noexcept {
    const std::uint32_t operation =
        direction == Direction::encrypt ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT;
    std::memcpy(operation_, &operation, sizeof operation);
  }

  alignas(
      cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(std::uint32_t)) +
                                             CMSG_SPACE(sizeof(af_alg_iv) + max_iv_size)> buffer_{};
  unsigned char* operation_ = nullptr;
  unsigned char* iv_ = nullptr;
  std::size_t size_of_iv_ = 0;
  std::size_t size_ = 0;
};

// In a program that was started with 0, 1 or 2 closed, whatever it prints would go to the socket
// between a request and its answer. errno is the caller's to read where the result is negative.
int beyond_standard(int number) noexcept {
  if (number < 0 || number > STDERR_FILENO) [[likely]]
    return number;
  const int moved =
      uninterrupted([&] { return ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); });
  const int error_number = errno;
  close_descriptor(number);
  errno = error_number;
  return moved;
}

class AfAlgSession final : public Session {
 public:
  AfAlgSession(Descriptor&& transform, std::size_t iv_size) noexcept
      : transform_(std::move(transform)), control_(iv_size) {
    message_.msg_iov = &input_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_.data();
  }

  void abandon() noexcept override {
    operation_.abandon();
    transform_.abandon();
  }

  Status set_key(std::span<const std::uint8_t> key) noexcept override {
    // A key cannot be set while an operation socket is open: EBUSY (af_alg.c, alg_setsockopt). One
    // that could not be recognised as ours, and was not closed, may be.
    if (!operation_.reset() || !transform_.intact()) return {Failure::descriptor_lost, 0};
    const int taken = uninterrupted([&] {
      return ::setsockopt(transform_.number(), SOL_ALG, ALG_SET_KEY, key.data(),
                          static_cast<socklen_t>(key.size()));
    });
    if (taken != 0) {
      return errno == EINVAL || errno == ENOKEY ? Status{Failure::bad_key, errno}
                                                : status_of_errno(errno);
    }
    const int number =
        beyond_standard(uninterrupted([&] { return accept_closed_on_exec(transform_.number()); }));
    if (number < 0) return status_of_errno(errno);
    if (!operation_.adopt(number)) return {Failure::descriptor_lost, errno};
    max_request_ = request_limit(number);
    return success;
  }

  Status crypt(const CipherRequest& request) noexcept override {
    if (!operation_.intact()) return {Failure::descriptor_lost, 0};
    // size_t in glibc, socklen_t in musl.
    message_.msg_controllen = static_cast<decltype(message_.msg_controllen)>(
        control_.fill(request.direction, request.iv));

    // sendmsg(2) takes a pointer to non-const for historical reasons and only reads.
    input_ = {const_cast<std::uint8_t*>(request.input.data()), request.input.size()};

    // MSG_DONTWAIT: with a send buffer that is too small the kernel would wait for a reader, and
    // the reader is us.
    const ssize_t sent = uninterrupted(
        [&] { return send_message(operation_.number(), &message_, MSG_DONTWAIT | MSG_NOSIGNAL); });
    if (sent < 0) return status_of_errno(errno);
    if (static_cast<std::size_t>(sent) != request.input.size()) {
      return {Failure::short_transfer, 0};
    }

    // Exactly what was sent: asking for more would wait for ever. MSG_DONTWAIT: so would asking for
    // what is not there, should the kernel have lost it. It waits for the driver all the same, and
    // there is no time-out for that. recv(2) gets there with less code than read(2).
    const ssize_t received = uninterrupted([&] {
      return receive(operation_.number(), request.output, request.input.size(), MSG_DONTWAIT);
    });
    if (received < 0) return status_of_errno(errno);
    if (received != sent) return {Failure::short_transfer, 0};
    return success;
  }

  Status mac(std::span<const std::uint8_t> message,
             std::span<std::uint8_t> result) noexcept override {
    if (!operation_.intact()) return {Failure::descriptor_lost, 0};
    // Without MSG_MORE the message ends here, and the kernel has the result ready to be read.
    input_ = {const_cast<std::uint8_t*>(message.data()), message.size()};
    msghdr whole{};
    whole.msg_iov = &input_;
    whole.msg_iovlen = 1;
    const ssize_t sent =
        uninterrupted([&] { return send_message(operation_.number(), &whole, MSG_NOSIGNAL); });
    if (sent < 0) return status_of_errno(errno);
    if (static_cast<std::size_t>(sent) != message.size()) return {Failure::short_transfer, 0};
    const ssize_t received = uninterrupted(
        [&] { return receive(operation_.number(), result.data(), result.size(), MSG_DONTWAIT); });
    if (received < 0) return status_of_errno(errno);
    if (static_cast<std::size_t>(received) != result.size()) return {Failure::short_transfer, 0};
    return success;
  }

  std::size_t max_request() const noexcept override { return max_request_; }

 private:
  // The kernel's lists of a request's pages count against net.core.optmem_max, 20 KiB before 6.9:
  // with large buffers a request of 700,000 bytes meets ENOMEM.
  static constexpr std::size_t largest_request = std::size_t{256} << 10;

  // The kernel counts a request's bytes against the buffers rounded down to pages, but allows at
  // least a page (af_alg_sndbuf in include/crypto/if_alg.h). Of the output it takes up to 16 pages
  // at a time, and goes on only while a page of the receive buffer is free (af_alg_get_rsgl): else
  // it makes two requests of one, the second with an IV that XTS does not have. 15 pages always lie
  // in the first 16, wherever they begin, and what leaves a page free is never broken off.
  static std::size_t request_limit(int socket) noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto whole_pages = [page](std::size_t bytes) {
      return std::max(bytes / page * page, page);
    };
    const std::size_t send = whole_pages(socket_buffer(socket, SO_SNDBUF));
    const std::size_t receive = whole_pages(socket_buffer(socket, SO_RCVBUF));
    const std::size_t whole = std::max(receive - page, std::min(receive, 15 * page));
    return std::min({send, whole, largest_request});
  }

  Descriptor transform_;
  Descriptor operation_;  // after transform_: closed first
  ControlMessage control_;
  iovec input_{};
  msghdr message_{};
  std::size_t max_request_ = 4096;
};

class AfAlgTransport final : public Transport {
 public:
  Status open(const char* driver, Algorithm algorithm,
              std::unique_ptr<Session>& session) noexcept override {
    const AlgorithmInfo& row = info(algorithm);
    sockaddr_alg address{};
    address.salg_family = AF_ALG;
    const std::size_t name_size = std::strlen(driver);
    if (name_size >= sizeof address.salg_name) return {Failure::no_driver, ENAMETOOLONG};
    std::memcpy(address.salg_type, row.socket_type, std::strlen(row.socket_type));
    std::memcpy(address.salg_name, driver, name_size);

    const int number = beyond_standard(
        uninterrupted([] { return ::socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); }));
    if (number < 0) return status_of_errno(errno);
    Descriptor transform;
    if (!transform.adopt(number)) return {Failure::descriptor_lost, errno};
    const int bound = uninterrupted([&] {
      return ::bind(number, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    });
    if (bound != 0) return status_of_errno(errno);

    session.reset(new (std::nothrow) AfAlgSession(std::move(transform), row.iv_size));
    return session ? success : Status{Failure::no_memory, ENOMEM};
  }
};

}  // namespace

std::unique_ptr<Transport> make_af_alg_transport() noexcept {
  return std::unique_ptr<Transport>(new (std::nothrow) AfAlgTransport);
}

}  // namespace kaccel::kernel
