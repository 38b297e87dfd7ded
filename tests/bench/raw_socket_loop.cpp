#include "raw_socket_loop.hpp"

#include <linux/if_alg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace kaccel::bench {
namespace {

std::runtime_error failed(const char* call) {
  return std::runtime_error(std::string("raw socket: ") + call + ": " + std::strerror(errno));
}

}  // namespace

RawSocketLoop::RawSocketLoop(const std::string& driver, std::span<const std::uint8_t> key,
                             std::size_t iv_size, bool encrypt)
    : iv_size_(iv_size), encrypt_(encrypt) {
  open("skcipher", driver, key);
}

RawSocketLoop::RawSocketLoop(const std::string& driver, std::span<const std::uint8_t> key) {
  open("hash", driver, key);
}

void RawSocketLoop::open(const char* type, const std::string& driver,
                         std::span<const std::uint8_t> key) {
  sockaddr_alg address{};
  address.salg_family = AF_ALG;
  std::strncpy(reinterpret_cast<char*>(address.salg_type), type, sizeof address.salg_type - 1);
  std::strncpy(reinterpret_cast<char*>(address.salg_name), driver.c_str(),
               sizeof address.salg_name - 1);
  transform_.fd = socket(AF_ALG, SOCK_SEQPACKET, 0);
  if (transform_.fd < 0) throw failed("socket");
  if (bind(transform_.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw failed("bind");
  }
  if (setsockopt(transform_.fd, SOL_ALG, ALG_SET_KEY, key.data(),
                 static_cast<socklen_t>(key.size())) != 0) {
    throw failed("setsockopt");
  }
  operation_.fd = accept(transform_.fd, nullptr, nullptr);
  if (operation_.fd < 0) throw failed("accept");
}

RawSocketLoop::Socket::~Socket() {
  if (fd >= 0) close(fd);
}

void RawSocketLoop::crypt(const std::uint8_t* iv, const std::uint8_t* in, std::uint8_t* out,
                          std::size_t size) {
  alignas(cmsghdr) unsigned char
      control[CMSG_SPACE(sizeof(std::uint32_t)) + CMSG_SPACE(sizeof(af_alg_iv) + 16)] = {};
  iovec data{const_cast<std::uint8_t*>(in), size};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(sizeof(std::uint32_t));
  if (iv_size_ != 0) message.msg_controllen += CMSG_SPACE(sizeof(af_alg_iv) + iv_size_);

  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_ALG;
  header->cmsg_type = ALG_SET_OP;
  header->cmsg_len = CMSG_LEN(sizeof(std::uint32_t));
  const std::uint32_t operation = encrypt_ ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT;
  std::memcpy(CMSG_DATA(header), &operation, sizeof operation);
  if (iv_size_ != 0) {
    header = CMSG_NXTHDR(&message, header);
    header->cmsg_level = SOL_ALG;
    header->cmsg_type = ALG_SET_IV;
    header->cmsg_len = CMSG_LEN(sizeof(af_alg_iv) + iv_size_);
    auto* value = reinterpret_cast<af_alg_iv*>(CMSG_DATA(header));
    value->ivlen = static_cast<std::uint32_t>(iv_size_);
    std::memcpy(value->iv, iv, iv_size_);
  }
  if (sendmsg(operation_.fd, &message, 0) != static_cast<ssize_t>(size)) throw failed("sendmsg");
  if (read(operation_.fd, out, size) != static_cast<ssize_t>(size)) throw failed("read");
}

void RawSocketLoop::digest(const std::uint8_t* in, std::size_t size, std::uint8_t* out,
                           std::size_t out_size) {
  if (send(operation_.fd, in, size, 0) != static_cast<ssize_t>(size)) throw failed("send");
  if (read(operation_.fd, out, out_size) != static_cast<ssize_t>(out_size)) throw failed("read");
}

}  // namespace kaccel::bench
