// Does a driver compute what OpenSSL computes? No driver is measured or enabled before it does.
//
// The bare driver is asked through kernel-bridge sessions, and then once more through kaccel's own
// provider; the reference is OpenSSL's default provider. Everything runs in helper processes with a
// time limit, in one as long as nothing goes wrong. Wrong or hanging lengths become a restriction
// where they show a rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/helper_process.hpp"
#include "kernel-bridge/restrictions.hpp"
#include "kernel-bridge/transport.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::calibrate {

enum class SelfTestVerdict : std::uint8_t {
  passed,
  restricted,  // right within `found`
  taken_out,   // wrong, or refused the key size, or hung in a way that shows no rule
};

struct SelfTestResult {
  SelfTestVerdict verdict;
  kernel::Restrictions found;  // beyond the known ones; sizes only
  std::string fault;           // the first fault in one line, "" where passed
  // It hung and answers nothing since, or takes a second for a few bytes: no use in trying it with
  // another key size.
  bool dead = false;
  // XTS: whether data units that are not whole blocks were right as well, and if not, why in one
  // line. Their faults do not count against the driver, unless it answers nothing since.
  bool ciphertext_stealing = false;
  std::string stealing_fault{};
  // What it gets wrong though kaccel never asks for it, and why it does no harm, a line each.
  std::vector<std::string> harmless_faults{};
};

// What is to be tested: one OpenSSL algorithm (so, one key size) on one driver.
struct TestSubject {
  const Algorithm& algorithm;
  std::string driver;
  kernel::Restrictions known;  // what is known to go wrong is not tried
  // What an earlier test of the same driver gave: only a part is tried again, and everything where
  // that goes wrong with keys of another size.
  struct Earlier {
    SelfTestResult result;
    // With keys of the same size, as the driver takes them: CTR for GCM, two-key 3DES for three
    // keys. Else another key size of the same mode.
    bool same_key_size;
  };
  std::optional<Earlier> earlier{};
};

SelfTestResult self_test(const TestSubject& subject, kernel::Transport& transport,
                         const HelperLimits& limits = {});

}  // namespace kaccel::calibrate
