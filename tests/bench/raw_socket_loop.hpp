// AF_ALG as one would write it by hand, with nothing around it: what kaccel is measured against.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kaccel::bench {

// One keyed cipher socket. Ends the program with a message when the kernel refuses.
class RawSocketLoop {
 public:
  RawSocketLoop(const std::string& driver, std::span<const std::uint8_t> key, std::size_t iv_size,
                bool encrypt);
  RawSocketLoop(const RawSocketLoop&) = delete;
  RawSocketLoop& operator=(const RawSocketLoop&) = delete;
  ~RawSocketLoop();

  // sendmsg(2) with the operation and the IV, read(2) for the result.
  void crypt(const std::uint8_t* iv, const std::uint8_t* in, std::uint8_t* out, std::size_t size);

 private:
  int transform_ = -1;
  int operation_ = -1;
  std::size_t iv_size_;
  bool encrypt_;
};

}  // namespace kaccel::bench
