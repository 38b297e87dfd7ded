#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>

#include <filesystem>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {
namespace {

constexpr const char* check = "trial";

std::string answers_text(const Trial& trial) {
  std::string text;
  for (const auto& [name, provider] : trial.answers) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name,
                        provider.empty() ? "nobody" : printable(provider));
  }
  return text;
}

}  // namespace

void check_trial(const Subject& subject, bool kaccel_is_off, Findings& findings) {
  const auto& trial = subject.trial;
  const std::string where = "a program with " + printable(subject.path, 200);
  findings.push_back(ok("OpenSSL", OpenSSL_version(OPENSSL_VERSION)));
  if (!trial.finished) {
    findings.push_back({State::problem, check, trial.end, where, "programs may end or hang alike"});
    return;
  }
  std::error_code error;
  // That it is not there has been told.
  if (!trial.refused.empty() && std::filesystem::exists(subject.path, error)) {
    findings.push_back({State::problem, check, "OpenSSL refuses: " + printable(trial.refused, 300),
                        where, refusal(subject)});
  }
  if (const auto missing = trial.missing(); !missing.empty()) {
    findings.push_back({State::problem, check,
                        fmt::format("nobody answers for {}", fmt::join(missing, ", ")), where,
                        "programs that need it fail"});
  }
  if (trial.encryption == "different") {
    findings.push_back({State::problem, check,
                        fmt::format("{} gives other bytes than software", trial_cipher), where,
                        "wrong data; set force_threshold = -1 and please report this"});
  }
  // Any of the others is told by the missing answers.
  if (!trial.build_info.empty()) {
    findings.push_back(ok("kaccel", printable(trial.build_info, 300)));
  } else if (!kaccel_is_off) {
    findings.push_back(
        {State::problem, check, "kaccel is not loaded", where, "programs run without it"});
  }
  if (trial.refused.empty() && trial.missing().empty() && trial.encryption == "same") {
    findings.push_back(
        ok(check, fmt::format("{}; encryption equals software's", answers_text(trial))));
  }
}

}  // namespace kaccel::calibrate::doctor
