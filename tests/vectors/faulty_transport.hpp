// A transport that lets one call fail on the way to FakeTransport, in one of the ways a driver may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernel-bridge/transport.hpp"
#include "tests/support/fake_transport.hpp"

namespace kaccel::vectors {

struct TransportFault {
  enum class Step : std::uint8_t { open, set_key, request };
  // What is in the output when a request fails.
  enum class Leaving : std::uint8_t {
    nothing,   // what was there
    rubbish,   // all of it written over
    half,      // half of it right, the rest as it was
    all,       // all of it right, and yet it failed
    a_result,  // no failure: only a late answer
  };

  Step step;
  kernel::Failure failure;
  Leaving leaving = Leaving::nothing;
};

// Every failure that AF_ALG's errnos stand for, at every step, and for requests everything that may
// be left in the output.
std::span<const TransportFault> all_transport_faults();
std::string describe(const TransportFault& fault);

class FaultyTransport final : public kernel::Transport {
 public:
  kernel::Status open(const char* driver, kernel::Algorithm algorithm,
                      std::unique_ptr<kernel::Session>& session) noexcept override;

  // The nth call of the fault's step fails (1: the next).
  void fail(const TransportFault& fault, std::uint64_t nth);
  // Whether it has.
  bool injected() const { return injected_; }

  // What callers did wrong, one line each: here and behind.
  std::vector<std::string> violations() const;

  // Behind it, where requests are counted and callers are checked.
  const kaccel::testing::FakeTransport& driver() const { return driver_; }
  kaccel::testing::FakeTransport& driver() { return driver_; }

 private:
  class FaultySession;
  // The fault, if this call is the one.
  const TransportFault* next(TransportFault::Step step);

  kaccel::testing::FakeTransport driver_;
  TransportFault fault_{};
  std::uint64_t left_ = 0;  // calls of the step up to the fault, with it; 0: none
  bool injected_ = false;
  bool failed_session_used_ = false;
};

}  // namespace kaccel::vectors
