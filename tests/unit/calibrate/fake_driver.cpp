#include "fake_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "calibrate/mac_stream.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::calibrate {
namespace {

// What the driver computes with OpenSSL: a row of the table, and the key as that takes it. Single
// DES is 3DES under one key, so that the legacy provider is not needed.
const Algorithm& row_of(kernel::Algorithm algorithm, std::size_t key_size) {
  if (algorithm == kernel::Algorithm::ecb_des) {
    return row_of(kernel::Algorithm::ecb_des3_ede, 3 * key_size);
  }
  if (algorithm == kernel::Algorithm::cbc_des) {
    return row_of(kernel::Algorithm::cbc_des3_ede, 3 * key_size);
  }
  const auto row = std::find_if(algorithm_table.begin(), algorithm_table.end(), [&](const auto& r) {
    return r.kernel_algorithm == algorithm && (is_mac(r) || r.key_size == key_size);
  });
  return *row;
}

std::vector<std::uint8_t> openssl_key(kernel::Algorithm algorithm,
                                      const std::vector<std::uint8_t>& key) {
  auto result = key;
  if (algorithm == kernel::Algorithm::ecb_des || algorithm == kernel::Algorithm::cbc_des) {
    for (int copy = 0; copy < 2; ++copy) result.insert(result.end(), key.begin(), key.end());
  }
  return result;
}

bool repeats_a_part(std::span<const std::uint8_t> key) {
  const auto part = [&](std::size_t i) { return key.subspan(8 * i, 8); };
  const auto same = [&](std::size_t i, std::size_t j) {
    return std::equal(part(i).begin(), part(i).end(), part(j).begin());
  };
  return key.size() == 24 && (same(0, 1) || same(1, 2) || same(0, 2));
}

class FakeSession : public kernel::Session {
 public:
  FakeSession(FakeTransport& transport, kernel::Algorithm algorithm)
      : transport_(transport), algorithm_(algorithm) {}

  kernel::Status set_key(std::span<const std::uint8_t> key) noexcept override {
    const bool repeats = transport_.refuses_repeated_des_keys && repeats_a_part(key);
    if (repeats || key.empty() || key.size() == transport_.refused_key_size) {
      return {kernel::Failure::bad_key, EINVAL};
    }
    if (!transport_.keeps_first_key || key_.empty()) key_.assign(key.begin(), key.end());
    return kernel::success;
  }

  kernel::Status crypt(const kernel::CipherRequest& request) noexcept override {
    wait(transport_.latency);
    has_decrypted_ |= request.direction == kernel::Direction::decrypt;
    const bool stays = transport_.sticky_direction && has_decrypted_;
    CipherStream stream(transport_.software(), row_of(algorithm_, key_.size()).name,
                        stays ? kernel::Direction::decrypt : request.direction,
                        openssl_key(algorithm_, key_), request.iv);
    stream.update(request.input.data(), request.input.size(), request.output);
    if (transport_.tamper) transport_.tamper(request);
    return behave(transport_.behaviour ? transport_.behaviour(request) : Behaviour::right,
                  request.output[request.input.size() - 1]);
  }

  kernel::Status mac(std::span<const std::uint8_t> message,
                     std::span<std::uint8_t> result) noexcept override {
    wait(transport_.latency);
    const auto right =
        MacStream(transport_.software(), row_of(algorithm_, 0), key_).mac_of(message);
    std::copy(right.begin(), right.end(), result.begin());
    return behave(
        transport_.mac_behaviour ? transport_.mac_behaviour(message, key_) : Behaviour::right,
        result.back());
  }

  std::size_t max_request() const noexcept override { return transport_.max_request; }

 private:
  static kernel::Status behave(Behaviour behaviour, std::uint8_t& last_byte) {
    switch (behaviour) {
      case Behaviour::right:
        break;
      case Behaviour::wrong:
        last_byte ^= 1;
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

  static void wait(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  }

  FakeTransport& transport_;
  kernel::Algorithm algorithm_;
  std::vector<std::uint8_t> key_;
  bool has_decrypted_ = false;
};

}  // namespace

kernel::Status FakeTransport::open(const char* driver, kernel::Algorithm algorithm,
                                   std::unique_ptr<kernel::Session>& session) noexcept {
  if (!binding) return binding;
  if (!driver_.empty() && driver != driver_) return {kernel::Failure::no_driver, ENOENT};
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
  const bool hash = kernel::info(algorithm).chaining == kernel::Chaining::hash;
  entry.type = hash ? "ahash" : "skcipher";
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
