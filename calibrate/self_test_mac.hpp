// The cases of the battery for HMAC.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "calibrate/openssl_context.hpp"
#include "calibrate/random_bytes.hpp"
#include "calibrate/self_test_patience.hpp"
#include "calibrate/self_test_provider.hpp"
#include "calibrate/self_test_runner.hpp"

namespace kaccel::calibrate {

class MacCaseRunner final : public CaseRunner {
 public:
  MacCaseRunner(const TestSubject& subject, kernel::Transport& transport,
                const OpensslContext& software, std::chrono::milliseconds slow);

  Report run(const Case& test) override;

 private:
  using Bytes = std::vector<std::uint8_t>;

  struct KeyedSession {
    std::unique_ptr<kernel::Session> session;
    Bytes key;
  };
  // Where in memory message and result lie, in bytes past a page border.
  struct Placement {
    std::size_t message = 0;
    std::size_t result = 0;
  };

  void run_case(const Case& test);
  KeyedSession open(std::size_t key_size);
  // A message of `length` bytes, compared with OpenSSL's result. Throws Fault.
  void check(KeyedSession& keyed, std::size_t length, Placement placement);
  void check_message(KeyedSession& keyed, const Bytes& message, const Bytes& expected,
                     Placement placement);
  Bytes reference(const Bytes& key, const Bytes& message);

  void test_many_keys(std::size_t length);
  void test_misaligned(std::size_t length);
  void test_repeated(std::size_t length);

  const TestSubject& subject_;
  const kernel::AlgorithmInfo& info_;
  kernel::Transport& transport_;
  const OpensslContext& software_;
  RandomBytes random_;
  Patience patience_;
  ProviderTest through_provider_;
  KeyedSession lasting_;  // in use from case to case, as a long-lived application's
};

}  // namespace kaccel::calibrate
