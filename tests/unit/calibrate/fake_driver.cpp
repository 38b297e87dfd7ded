#include "fake_driver.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "provider/algorithms.hpp"

namespace kaccel::calibrate {
namespace {

const char* openssl_name(kernel::Algorithm algorithm, std::size_t key_size) {
  for (const auto& row : algorithm_table) {
    if (row.kernel_algorithm == algorithm && row.key_size == key_size) return row.name;
  }
  return "";
}

class FakeSession : public kernel::Session {
 public:
  FakeSession(FakeTransport& transport, kernel::Algorithm algorithm)
      : transport_(transport), algorithm_(algorithm) {}

  kernel::Status set_key(std::span<const std::uint8_t> key) noexcept override {
    if (key.size() == transport_.refused_key_size) return {kernel::Failure::bad_key, EINVAL};
    key_.assign(key.begin(), key.end());
    return kernel::success;
  }

  kernel::Status crypt(const kernel::CipherRequest& request) noexcept override {
    wait(transport_.latency);
    CipherStream stream(transport_.software(), openssl_name(algorithm_, key_.size()),
                        request.direction, key_, request.iv);
    stream.update(request.input.data(), request.input.size(), request.output);
    switch (transport_.behaviour ? transport_.behaviour(request) : Behaviour::right) {
      case Behaviour::right:
        break;
      case Behaviour::wrong:
        request.output[request.input.size() - 1] ^= 1;
        break;
      case Behaviour::failing:
        return {kernel::Failure::driver_error, EIO};
      case Behaviour::hanging:
        for (;;) pause();
      case Behaviour::crashing:
        _exit(3);
    }
    return kernel::success;
  }

  std::size_t max_request() const noexcept override { return transport_.max_request; }

 private:
  static void wait(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  }

  FakeTransport& transport_;
  kernel::Algorithm algorithm_;
  std::vector<std::uint8_t> key_;
};

}  // namespace

kernel::Status FakeTransport::open(const char* driver, kernel::Algorithm algorithm,
                                   std::unique_ptr<kernel::Session>& session) noexcept {
  if (!binding) return binding;
  if (driver != driver_) return {kernel::Failure::no_driver, ENOENT};
  session = std::make_unique<FakeSession>(*this, algorithm);
  return kernel::success;
}

std::function<Behaviour(const kernel::CipherRequest&)> bad_lengths(
    const std::function<bool(std::size_t)>& bad, Behaviour how) {
  return [=](const kernel::CipherRequest& request) {
    return bad(request.input.size()) ? how : Behaviour::right;
  };
}

kernel::Driver make_driver(const std::string& name, kernel::Algorithm algorithm,
                           kernel::Hardness hardness, int priority) {
  kernel::ProcCryptoEntry entry;
  entry.name = kernel::info(algorithm).kernel_name;
  entry.driver = name;
  entry.type = "skcipher";
  entry.priority = priority;
  entry.selftest_passed = true;
  return {std::move(entry), std::nullopt, algorithm, kernel::find_known_driver(name),
          hardness,         "made up"};
}

Machine make_machine(kernel::Transport& transport, std::vector<kernel::Driver> drivers) {
  KernelFacts facts;
  facts.release = "6.1.0";
  parse_release(facts.release, facts);
  return {std::move(facts), kernel::success, std::move(drivers), transport};
}

}  // namespace kaccel::calibrate
