#include "calibrate/self_test.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "calibrate/length_rule.hpp"
#include "calibrate/self_test_cases.hpp"
#include "calibrate/self_test_runner.hpp"

namespace kaccel::calibrate {
namespace {

// Helpers lost in a row before the driver is given up: a single length may hang, a dead driver
// should not cost a time limit for each.
constexpr int most_losses_in_a_row = 2;

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

  // Runs the cases, in a new helper after each that was lost. Throws UnusableDriver when there is
  // no point in going on.
  std::vector<CaseResult> run(const std::vector<Case>& cases) {
    std::vector<CaseResult> results(cases.size());
    Listener listener(results);
    int losses = 0;
    for (std::size_t next = 0; next < cases.size();) {
      const auto helper = run_from(cases, next, listener);
      if (helper.end == HelperEnd::finished) break;
      if (helper.end == HelperEnd::threw) throw UnusableDriver(helper.detail);

      const std::size_t lost = listener.current();
      const std::string fault = fmt::format(
          "a request of {} bytes {}", cases[lost].length,
          helper.end == HelperEnd::died ? "crashes: the helper " + helper.detail : helper.detail);
      losses = lost == next ? losses + 1 : 1;
      if (helper.end == HelperEnd::stuck || losses >= most_losses_in_a_row) {
        throw UnusableDriver(fault);
      }
      results[lost] = {Outcome::wrong, fault};
      next = lost + 1;
    }
    return results;
  }

 private:
  HelperResult run_from(const std::vector<Case>& cases, std::size_t first, Listener& listener) {
    return run_in_helper(
        [&](const SayLine& say) {
          CaseRunner runner(subject_, transport_);
          for (std::size_t i = first; i < cases.size(); ++i) {
            say(fmt::format("begin {}", i));
            const auto report = runner.run(cases[i]);
            say(fmt::format("{} {} {}", spelled(report.outcome), i, report.fault));
          }
        },
        [&](std::string_view line) { listener.hear(line); }, limits_);
  }

  const TestSubject& subject_;
  kernel::Transport& transport_;
  const HelperLimits& limits_;
};

std::string first_fault(const std::vector<CaseResult>& results) {
  for (const auto& result : results) {
    if (result.outcome == Outcome::wrong) return result.fault;
  }
  return {};
}

SelfTestResult taken_out(std::string fault) {
  return {SelfTestVerdict::taken_out, {}, std::move(fault)};
}

SelfTestResult test_in_two_steps(const TestSubject& subject, kernel::Transport& transport,
                                 const HelperLimits& limits) {
  const auto& algorithm = kernel::info(subject.algorithm.kernel_algorithm);
  const auto lengths = test_lengths(algorithm.block_size, subject.known);
  const auto by_length = Battery(subject, transport, limits).run(length_cases(lengths));

  std::vector<LengthResult> answers;
  std::vector<std::size_t> good_lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto outcome = by_length[i].outcome;
    if (outcome != Outcome::right && outcome != Outcome::wrong) continue;
    answers.push_back({lengths[i], outcome == Outcome::right});
    if (outcome == Outcome::right) good_lengths.push_back(lengths[i]);
  }
  std::string fault = first_fault(by_length);
  const auto rule = find_length_rule(answers);
  if (!rule) return taken_out(fault.empty() ? "takes no request of any length tried" : fault);

  TestSubject restricted = subject;
  restricted.known = kernel::combine(subject.known, *rule);
  const auto further =
      Battery(restricted, transport, limits).run(further_cases(algorithm.chaining, good_lengths));
  if (auto later_fault = first_fault(further); !later_fault.empty()) {
    return taken_out(std::move(later_fault));
  }
  const bool passed = fault.empty();
  return {passed ? SelfTestVerdict::passed : SelfTestVerdict::restricted, *rule, std::move(fault)};
}

}  // namespace

SelfTestResult self_test(const TestSubject& subject, kernel::Transport& transport,
                         const HelperLimits& limits) {
  try {
    return test_in_two_steps(subject, transport, limits);
  } catch (const UnusableDriver& unusable) {
    return taken_out(unusable.what());
  }
}

}  // namespace kaccel::calibrate
