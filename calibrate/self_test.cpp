#include "calibrate/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "calibrate/length_rule.hpp"
#include "calibrate/self_test_cases.hpp"
#include "calibrate/self_test_fault.hpp"
#include "calibrate/self_test_runner.hpp"

namespace kaccel::calibrate {
namespace {

// Helpers lost at neighbouring lengths before longer ones are taken to be lost too: each costs a
// time limit, and may leave a process behind.
constexpr int most_losses_in_a_row = 2;

// The driver answers nothing any more, not even what it answered before.
struct DeadDriver : UnusableDriver {
  using UnusableDriver::UnusableDriver;
};

enum class Outcome : std::uint8_t { not_run, right, wrong, skipped };

struct CaseResult {
  Outcome outcome = Outcome::not_run;
  std::string fault;
};

// What the helper says: "begin N", then "right N", "skipped N" or "wrong N FAULT".
class Listener {
 public:
  explicit Listener(std::vector<CaseResult>& results) : results_(results) {}

  void hear(std::string_view line) {
    const auto word = next_word(line);
    const auto number = next_word(line);
    std::size_t index = 0;
    std::from_chars(number.data(), number.data() + number.size(), index);
    if (index >= results_.size()) return;
    current_ = index;
    if (word == "right") results_[index] = {Outcome::right, {}};
    if (word == "skipped") results_[index] = {Outcome::skipped, {}};
    if (word == "wrong") results_[index] = {Outcome::wrong, std::string(line)};
  }

  // The case that was begun last.
  std::size_t current() const noexcept { return current_; }

 private:
  static std::string_view next_word(std::string_view& line) {
    const auto space = line.find(' ');
    const auto word = line.substr(0, space);
    line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    return word;
  }

  std::vector<CaseResult>& results_;
  std::size_t current_ = 0;
};

const char* spelled(CaseRunner::Outcome outcome) {
  switch (outcome) {
    case CaseRunner::Outcome::right:
      return "right";
    case CaseRunner::Outcome::wrong:
      return "wrong";
    case CaseRunner::Outcome::skipped:
      break;
  }
  return "skipped";
}

class Battery {
 public:
  Battery(const TestSubject& subject, kernel::Transport& transport, const HelperLimits& limits)
      : subject_(subject), transport_(transport), limits_(limits) {}

  // Cases of rising length, in a new helper after each that was lost. Throws UnusableDriver when
  // there is no point in going on.
  std::vector<CaseResult> run_lengths(const std::vector<Case>& cases) {
    std::vector<CaseResult> results(cases.size());
    int losses_in_a_row = 0;
    for (std::size_t next = 0; next < cases.size();) {
      const auto loss = run_from(cases, next, results);
      if (!loss) break;
      require_answer(last_right(cases, results), loss->fault);
      results[loss->index] = {Outcome::wrong, loss->fault};
      losses_in_a_row = loss->index == next ? losses_in_a_row + 1 : 1;
      next = loss->index + 1;
      if (losses_in_a_row == most_losses_in_a_row) {
        if (!last_right(cases, results)) throw DeadDriver(loss->fault);
        for (; next < cases.size(); ++next) results[next] = {Outcome::wrong, loss->fault};
      }
    }
    return results;
  }

  // Cases of which none may go wrong, up to the first loss. Returns the first fault, "" if there is
  // none. `proof` is a case that was right before.
  std::string run_all(const std::vector<Case>& cases, const Case& proof) {
    std::vector<CaseResult> results(cases.size());
    if (const auto loss = run_from(cases, 0, results)) {
      require_answer(proof, loss->fault);
      return loss->fault;
    }
    return first_fault(results);
  }

  static std::string first_fault(const std::vector<CaseResult>& results) {
    for (const auto& result : results) {
      if (result.outcome == Outcome::wrong) return result.fault;
    }
    return {};
  }

 private:
  struct Loss {
    std::size_t index;  // of the case during which the helper was lost
    std::string fault;
  };

  // Runs cases up to the end or the first loss.
  std::optional<Loss> run_from(const std::vector<Case>& cases, std::size_t first,
                               std::vector<CaseResult>& results) {
    Listener listener(results);
    const auto helper = run_in_helper(
        [&](const SayLine& say) {
          const auto runner = make_case_runner(subject_, transport_);
          for (std::size_t i = first; i < cases.size(); ++i) {
            say(fmt::format("begin {}", i));
            const auto report = runner->run(cases[i]);
            say(fmt::format("{} {} {}", spelled(report.outcome), i, report.fault));
          }
        },
        [&](std::string_view line) { listener.hear(line); }, limits_);
    if (helper.end == HelperEnd::finished) return {};
    if (helper.end == HelperEnd::threw) throw UnusableDriver(helper.detail);
    const std::size_t lost = std::max(listener.current(), first);
    const char* const how = helper.end == HelperEnd::died ? "crashes: the helper " : "";
    return Loss{lost,
                fmt::format("a request of {} bytes {}{}", cases[lost].length, how, helper.detail)};
  }

  static std::optional<Case> last_right(const std::vector<Case>& cases,
                                        const std::vector<CaseResult>& results) {
    for (std::size_t i = cases.size(); i-- > 0;) {
      if (results[i].outcome == Outcome::right) return cases[i];
    }
    return {};
  }

  // After a loss: does the driver still do what it did before? A hung engine does not.
  void require_answer(const std::optional<Case>& proof, const std::string& fault) {
    if (!proof) return;
    std::vector<CaseResult> result(1);
    if (run_from({*proof}, 0, result) || result[0].outcome != Outcome::right) {
      throw DeadDriver(fault + "; the driver answers nothing since");
    }
  }

  const TestSubject& subject_;
  kernel::Transport& transport_;
  const HelperLimits& limits_;
};

SelfTestResult taken_out(std::string fault, bool dead = false) {
  return {SelfTestVerdict::taken_out, {}, std::move(fault), dead};
}

// XTS: may the driver see data units that are not whole blocks? `subject` knows all restrictions.
void prove_stealing(const TestSubject& subject, kernel::Transport& transport,
                    const HelperLimits& limits, const Case& proof, SelfTestResult& result) {
  const auto lengths = stealing_lengths(subject.known);
  if (lengths.empty()) {
    result.stealing_fault = "the driver's restrictions permit no such length";
    return;
  }
  try {
    result.stealing_fault =
        Battery(subject, transport, limits).run_all(stealing_cases(lengths), proof);
  } catch (const DeadDriver&) {
    throw;
  } catch (const UnusableDriver& unusable) {  // only for such units
    result.stealing_fault = unusable.what();
  }
  result.ciphertext_stealing = result.stealing_fault.empty();
}

// GCM on a driver whose CTR has been tested.
SelfTestResult test_gcm_alone(const TestSubject& subject, kernel::Transport& transport,
                              const HelperLimits& limits) {
  const auto& counter_mode = *subject.counter_mode;
  if (counter_mode.verdict == SelfTestVerdict::taken_out) return counter_mode;
  TestSubject restricted = subject;
  restricted.known = kernel::combine(subject.known, counter_mode.found);
  const auto lengths = test_lengths(subject.algorithm, restricted.known);
  auto fault =
      Battery(restricted, transport, limits)
          .run_all(provider_cases(subject.algorithm, lengths), {CaseKind::length, lengths.front()});
  return fault.empty() ? counter_mode : taken_out(std::move(fault));
}

SelfTestResult test_in_steps(const TestSubject& subject, kernel::Transport& transport,
                             const HelperLimits& limits) {
  if (subject.counter_mode) return test_gcm_alone(subject, transport, limits);
  const auto lengths = test_lengths(subject.algorithm, subject.known);
  const auto by_length = Battery(subject, transport, limits).run_lengths(length_cases(lengths));

  std::vector<LengthResult> answers;
  std::vector<std::size_t> good_lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto outcome = by_length[i].outcome;
    if (outcome != Outcome::right && outcome != Outcome::wrong) continue;
    answers.push_back({lengths[i], outcome == Outcome::right});
    if (outcome == Outcome::right) good_lengths.push_back(lengths[i]);
  }
  std::string fault = Battery::first_fault(by_length);
  const auto rule = find_length_rule(answers);
  if (!rule) return taken_out(fault.empty() ? "takes no request of any length tried" : fault);

  TestSubject restricted = subject;
  restricted.known = kernel::combine(subject.known, *rule);
  const Case proof{CaseKind::length, good_lengths.front()};
  auto later_fault = Battery(restricted, transport, limits)
                         .run_all(further_cases(subject.algorithm, good_lengths), proof);
  if (!later_fault.empty()) return taken_out(std::move(later_fault));
  const bool passed = fault.empty();
  SelfTestResult result{passed ? SelfTestVerdict::passed : SelfTestVerdict::restricted, *rule,
                        std::move(fault)};
  if (subject.algorithm.kind == Kind::data_units) {
    prove_stealing(restricted, transport, limits, proof, result);
  }
  return result;
}

}  // namespace

SelfTestResult self_test(const TestSubject& subject, kernel::Transport& transport,
                         const HelperLimits& limits) {
  try {
    return test_in_steps(subject, transport, limits);
  } catch (const DeadDriver& dead) {
    return taken_out(dead.what(), true);
  } catch (const UnusableDriver& unusable) {
    return taken_out(unusable.what());
  }
}

}  // namespace kaccel::calibrate
