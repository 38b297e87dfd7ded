// A kernel in which one driver ciphers with OpenSSL's software, rightly or not.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "calibrate/machine.hpp"
#include "calibrate/openssl_context.hpp"
#include "kernel-bridge/transport.hpp"

namespace kaccel::calibrate {

enum class Behaviour { right, wrong, failing, hanging, crashing };

class FakeTransport : public kernel::Transport {
 public:
  // Other names do not bind; "" lets all do.
  explicit FakeTransport(std::string driver)
      : driver_(std::move(driver)), software_(OpensslContext::with_default()) {}

  kernel::Status open(const char* driver, kernel::Algorithm algorithm,
                      std::unique_ptr<kernel::Session>& session) noexcept override;

  // What the driver does with a request; right by default.
  std::function<Behaviour(const kernel::CipherRequest&)> behaviour;
  // The same for a message and the key that it is hashed with.
  std::function<Behaviour(std::span<const std::uint8_t> message, std::span<const std::uint8_t> key)>
      mac_behaviour;
  // Changes the output of a request that went right.
  std::function<void(const kernel::CipherRequest&)> tamper;
  std::chrono::microseconds latency{0};
  // A session that has decrypted goes on decrypting.
  bool sticky_direction = false;
  // A session takes a second key and goes on with the first.
  bool keeps_first_key = false;
  std::size_t refused_key_size = 0;
  bool refuses_repeated_des_keys = false;
  std::size_t max_request = 212'992;
  // What opening any driver ends with.
  kernel::Status binding = kernel::success;

  const OpensslContext& software() const { return software_; }

 private:
  std::string driver_;
  OpensslContext software_;
};

// Only lengths for which `bad` holds go wrong, in this way.
std::function<Behaviour(const kernel::CipherRequest&)> bad_lengths(
    const std::function<bool(std::size_t)>& bad, Behaviour how = Behaviour::wrong);

// A listing of /proc/crypto with this driver, as discovery would have it.
kernel::Driver make_driver(const std::string& name, kernel::Algorithm algorithm,
                           kernel::Hardness hardness = kernel::Hardness::hardware,
                           int priority = 300);

Machine make_machine(kernel::Transport& transport, std::vector<kernel::Driver> drivers);

}  // namespace kaccel::calibrate
