// AF_ALG as one would write it by hand, with nothing around it: what kaccel is measured against.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kaccel::bench {

// One keyed cipher or hash socket. Every call throws std::runtime_error when the kernel refuses.
class RawSocketLoop {
 public:
  // A cipher of the driver. An IV of no bytes (ECB) is not sent.
  RawSocketLoop(const std::string& driver, std::span<const std::uint8_t> key, std::size_t iv_size,
                bool encrypt);

  // A keyed hash of the driver.
  RawSocketLoop(const std::string& driver, std::span<const std::uint8_t> key);

  RawSocketLoop(const RawSocketLoop&) = delete;
  RawSocketLoop& operator=(const RawSocketLoop&) = delete;

  // sendmsg(2) with the operation and the IV, read(2) for the result.
  void crypt(const std::uint8_t* iv, const std::uint8_t* in, std::uint8_t* out, std::size_t size);

  // send(2) of the whole message, read(2) for the digest.
  void digest(const std::uint8_t* in, std::size_t size, std::uint8_t* out, std::size_t out_size);

 private:
  void open(const char* type, const std::string& driver, std::span<const std::uint8_t> key);

  struct Socket {
    int fd = -1;
    ~Socket();
  };
  Socket transform_;
  Socket operation_;
  std::size_t iv_size_ = 0;
  bool encrypt_ = true;
};

}  // namespace kaccel::bench
