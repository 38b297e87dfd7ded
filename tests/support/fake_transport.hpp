// A kernel driver without a kernel: a Transport that really ciphers, in software, and can be made
// to behave as badly as a driver may.
//
// It checks its callers against the contract of transport.hpp. What they do wrong is collected in
// violations(), which a test compares with nothing.
#pragma once

#include <openssl/crypto.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernel-bridge/restrictions.hpp"
#include "kernel-bridge/transport.hpp"
#include "tests/support/evp.hpp"

namespace kaccel::testing {

// Safe from any thread. Serves any driver name and every algorithm that kaccel uses.
class FakeTransport final : public kernel::Transport {
 public:
  enum class Step : std::uint8_t { open, set_key, crypt };
  static constexpr std::size_t step_count = 3;

  FakeTransport();
  ~FakeTransport() override;

  kernel::Status open(const char* driver, kernel::Algorithm algorithm,
                      std::unique_ptr<kernel::Session>& session) noexcept override;

  // Bytes a request may carry, for sessions opened from now on. Less than a page is allowed here,
  // so that a test sees much splitting with little data.
  void set_max_request(std::size_t bytes);

  // Rules whose breaking is a violation; a driver name of the known-drivers table brings its own.
  void set_restrictions(const kernel::Restrictions& restrictions);

  // From now on the nth of these calls (1: the next) fails, and `count` - 1 after it. A request
  // that fails scribbles over its whole output first.
  void fail(Step step, kernel::Failure failure, std::uint64_t nth = 1, std::uint64_t count = 1);
  // Every call fails with a probability of 1 / one_in, each time with another failure.
  void fail_randomly(std::uint32_t seed, std::uint32_t one_in);
  void fail_no_more();

  // The next of these calls does not return before let_go(). Other calls do.
  void hold_next(Step step);
  // Waits until such a call is held, at most so long. False: there is none.
  bool wait_until_held(std::chrono::milliseconds at_most);
  void let_go();

  // What callers did wrong, one line each.
  std::vector<std::string> violations() const;
  // Of all requests, failed ones too, in order.
  std::vector<std::size_t> request_sizes() const;
  std::uint64_t calls(Step step) const;
  std::size_t open_sessions() const;
  std::size_t most_open_sessions() const;
  // The keys that sessions hold now.
  std::size_t keyed_sessions() const;

 private:
  class FakeSession;
  struct PlannedFault {
    kernel::Failure failure = kernel::Failure::none;
    std::uint64_t first = 0;  // number of the call, counted from 1
    std::uint64_t last = 0;
  };

  kernel::Status next_call(Step step);
  void complain(const std::string& text);
  void session_closed(bool keyed);
  void session_keyed();
  void note_request(std::size_t size);
  kernel::Restrictions restrictions() const;

  const LibraryContext library_;
  mutable std::mutex mutex_;
  std::size_t max_request_ = 65536;
  kernel::Restrictions restrictions_;
  std::array<PlannedFault, step_count> faults_{};
  std::condition_variable hold_changed_;
  std::optional<Step> hold_next_;
  bool holding_ = false;
  std::uint32_t random_one_in_ = 0;
  std::mt19937 random_;
  std::vector<std::string> violations_;
  std::vector<std::size_t> request_sizes_;
  std::array<std::uint64_t, step_count> calls_{};
  std::size_t open_sessions_ = 0;
  std::size_t most_open_sessions_ = 0;
  std::size_t keyed_sessions_ = 0;
};

}  // namespace kaccel::testing
