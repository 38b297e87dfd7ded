#include <memory>

#include "../raw_socket_loop.hpp"
#include "sides.hpp"

namespace kaccel::bench {
namespace {

std::unique_ptr<RawSocketLoop> open(const std::string& driver, const Message& message) {
  if (is_mac(message.algorithm)) return std::make_unique<RawSocketLoop>(driver, message.key);
  return std::make_unique<RawSocketLoop>(driver, message.key, message.iv.size(),
                                         message.encrypts());
}

void handle(RawSocketLoop& loop, const Message& message) {
  if (is_mac(message.algorithm)) {
    loop.digest(message.input.data(), message.input.size(), message.output.data(),
                message.output.size());
  } else {
    loop.crypt(message.iv.data(), message.input.data(), message.output.data(),
               message.input.size());
  }
}

class RawSide final : public Side {
 public:
  explicit RawSide(const Drivers& drivers) : drivers_(drivers) {}

  std::string name() const override { return "raw"; }

  Operation make_operation(const Message& message, Manner manner) override {
    const auto found = drivers_.find(message.algorithm.kernel_algorithm);
    if (found == drivers_.end() || message.algorithm.kind == Kind::gcm) return {};
    if (manner == Manner::new_context) {
      return [driver = found->second, message] { handle(*open(driver, message), message); };
    }
    const std::shared_ptr<RawSocketLoop> loop = open(found->second, message);
    return [loop, message] { handle(*loop, message); };
  }

 private:
  Drivers drivers_;
};

}  // namespace

std::unique_ptr<Side> make_raw_side(const Drivers& drivers) {
  return std::make_unique<RawSide>(drivers);
}

}  // namespace kaccel::bench
