// Carries out one case of the battery on a driver, in the helper process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "calibrate/openssl_context.hpp"
#include "calibrate/self_test.hpp"
#include "calibrate/self_test_cases.hpp"

namespace kaccel::calibrate {

class CaseRunner {
 public:
  enum class Outcome : std::uint8_t { right, wrong, skipped };
  struct Report {
    Outcome outcome;
    std::string fault;  // where wrong
  };

  CaseRunner() = default;
  CaseRunner(const CaseRunner&) = delete;
  CaseRunner& operator=(const CaseRunner&) = delete;
  virtual ~CaseRunner() = default;

  // skipped: the kernel takes no request of this length. Throws UnusableDriver, and OpensslError
  // where OpenSSL does not play its part.
  virtual Report run(const Case& test) = 0;
};

// For whatever kind of algorithm the subject is. `software` has OpenSSL's own side of it;
// `slow` is the longest time for a short request. The arguments must outlive the runner, which
// throws SlowDriver as well.
std::unique_ptr<CaseRunner> make_case_runner(const TestSubject& subject,
                                             kernel::Transport& transport,
                                             const OpensslContext& software,
                                             std::chrono::milliseconds slow);

}  // namespace kaccel::calibrate
