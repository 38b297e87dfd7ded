#include "calibrate/self_test_runner.hpp"

#include <fmt/format.h>

#include <cstring>

#include "calibrate/self_test_cipher.hpp"
#include "calibrate/self_test_fault.hpp"
#include "calibrate/self_test_mac.hpp"

namespace kaccel::calibrate {

std::string reason(const kernel::Status& status) {
  std::string text = kernel::describe(status.failure);
  if (status.error_number != 0) text += fmt::format(" ({})", std::strerror(status.error_number));
  return text;
}

std::unique_ptr<CaseRunner> make_case_runner(const TestSubject& subject,
                                             kernel::Transport& transport,
                                             const OpensslContext& software,
                                             std::chrono::milliseconds slow) {
  if (is_mac(subject.algorithm)) {
    return std::make_unique<MacCaseRunner>(subject, transport, software, slow);
  }
  return std::make_unique<CipherCaseRunner>(subject, transport, software, slow);
}

}  // namespace kaccel::calibrate
