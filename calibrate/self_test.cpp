#include "calibrate/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "calibrate/length_rule.hpp"
#include "calibrate/mac_stream.hpp"
#include "calibrate/random_bytes.hpp"
#include "calibrate/self_test_cases.hpp"
#include "calibrate/self_test_fault.hpp"
#include "calibrate/self_test_runner.hpp"
#include "calibrate/served_algorithms.hpp"

namespace kaccel::calibrate {
namespace {

// Helpers lost one after the other before longer requests are taken to be lost too, and lost in all
// before the driver is given up: each costs a time limit, and may leave a process behind.
constexpr int most_losses_in_a_row = 2;
constexpr int most_losses = 4;

// The driver answers nothing any more, not even what it answered before, or too slowly.
struct DeadDriver : UnusableDriver {
  using UnusableDriver::UnusableDriver;
};

enum class Outcome : std::uint8_t { not_run, right, wrong, skipped };

struct CaseResult {
  Outcome outcome = Outcome::not_run;
  std::string fault;
};

// What the helper says: "begin N", then "right N", "skipped N" or "wrong N FAULT". "slow N TEXT" is
// its last word.
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
    if (word == "slow") slowness_ = line;
  }

  // The case that was begun last.
  std::size_t current() const noexcept { return current_; }
  // "" where it is fast enough.
  const std::string& slowness() const noexcept { return slowness_; }

 private:
  static std::string_view next_word(std::string_view& line) {
    const auto space = line.find(' ');
    const auto word = line.substr(0, space);
    line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    return word;
  }

  std::vector<CaseResult>& results_;
  std::size_t current_ = 0;
  std::string slowness_;
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

// OpenSSL's own side, for all tests of a process: its tables, which it builds at the first fetch,
// cost more than a short test. Helpers inherit them.
const OpensslContext& software_of(const Algorithm& algorithm) {
  static const auto usual = OpensslContext::with_default();
  const auto& software = [&]() -> const OpensslContext& {
    if (!needs_legacy(algorithm)) return usual;
    static const auto with_legacy = OpensslContext::with_software_of(algorithm);
    return with_legacy;
  }();
  const auto& info = kernel::info(algorithm.kernel_algorithm);
  if (is_mac(algorithm)) {
    MacStream(software, algorithm, std::vector<std::uint8_t>(1));
  } else {
    CipherStream(software, driver_side(algorithm).name, kernel::Direction::encrypt,
                 RandomBytes(1).bytes(algorithm.key_size), std::vector<std::uint8_t>(info.iv_size));
  }
  return software;
}

class Battery {
 public:
  Battery(const TestSubject& subject, kernel::Transport& transport, const HelperLimits& limits)
      : subject_(subject),
        transport_(transport),
        limits_(limits),
        software_(software_of(subject.algorithm)) {}

  // What is known of the driver from here on.
  void restrict_to(const kernel::Restrictions& rule) {
    subject_.known = kernel::combine(subject_.known, rule);
  }
  const TestSubject& subject() const noexcept { return subject_; }

  struct LengthResults {
    std::vector<CaseResult> by_length;  // ascending
    // Of `rest`; nothing where these are still to be run.
    std::optional<std::vector<CaseResult>> rest;
  };

  // Tries all lengths, and then `rest` as well if all were right at once. A new helper after each
  // that was lost. Throws UnusableDriver when there is no point in going on.
  LengthResults run_lengths(const LengthCases& passes, const std::vector<Case>& rest) {
    auto cases = passes.cases;
    cases.insert(cases.end(), rest.begin(), rest.end());
    std::vector<CaseResult> results(cases.size());
    auto loss = run_from(cases, 0, passes.cases.size(), results);
    const auto first_of_rest = results.begin() + static_cast<std::ptrdiff_t>(passes.cases.size());
    if (loss ? loss->index >= passes.cases.size() : all_right({results.begin(), first_of_rest})) {
      std::vector<CaseResult> rest_results(first_of_rest, results.end());
      const auto proof = *last_right(passes.cases, results);
      if (loss) loss->index -= passes.cases.size();
      finish(rest, proof, std::move(loss), rest_results);
      results.resize(passes.cases.size());
      return {by_length(passes, results), std::move(rest_results)};
    }
    results.resize(passes.cases.size());
    go_on_after_loss(passes, loss, results);
    return {by_length(passes, results), {}};
  }

  // `proof` is a case that was right before.
  std::vector<CaseResult> run_rest(const std::vector<Case>& rest, const Case& proof) {
    std::vector<CaseResult> results(rest.size());
    finish(rest, proof, run_from(rest, 0, rest.size(), results), results);
    return results;
  }

 private:
  struct Loss {
    std::size_t index;  // of the case during which the helper was lost
    std::string fault;
    bool unusable;  // the helper itself said that there is no use
  };

  static bool all_right(std::span<const CaseResult> results) {
    return std::all_of(results.begin(), results.end(),
                       [](const CaseResult& result) { return result.outcome == Outcome::right; });
  }

  // Runs cases up to the end or the first loss. Those from `gate` on only if all before were right.
  std::optional<Loss> run_from(const std::vector<Case>& cases, std::size_t first, std::size_t gate,
                               std::vector<CaseResult>& results) {
    Listener listener(results);
    const auto helper = run_in_helper([&](const SayLine& say) { work(cases, first, gate, say); },
                                      [&](std::string_view line) { listener.hear(line); }, limits_);
    if (!listener.slowness().empty()) throw DeadDriver(listener.slowness());
    if (helper.end == HelperEnd::finished) return {};
    const std::size_t lost = std::max(listener.current(), first);
    if (helper.end == HelperEnd::threw) return Loss{lost, helper.detail, true};
    const char* const how = helper.end == HelperEnd::died ? "crashes: the helper " : "";
    auto fault = fmt::format("a request of {} bytes {}{}", cases[lost].length, how, helper.detail);
    if (helper.took_all_its_time) throw DeadDriver(fault);
    return Loss{lost, std::move(fault), false};
  }

  // In the helper.
  void work(const std::vector<Case>& cases, std::size_t first, std::size_t gate,
            const SayLine& say) {
    const auto runner = make_case_runner(subject_, transport_, software_, limits_.slow);
    bool right_so_far = true;
    for (std::size_t i = first; i < cases.size() && (i < gate || right_so_far); ++i) {
      say(fmt::format("begin {}", i));
      try {
        const auto report = runner->run(cases[i]);
        if (i < gate) right_so_far &= report.outcome == CaseRunner::Outcome::right;
        say(fmt::format("{} {} {}", spelled(report.outcome), i, report.fault));
      } catch (const SlowDriver& slow) {
        say(fmt::format("slow {} {}", i, slow.what()));
        return;
      }
    }
  }

  void go_on_after_loss(const LengthCases& passes, std::optional<Loss> loss,
                        std::vector<CaseResult>& results) {
    const auto& cases = passes.cases;
    int losses = 0;
    int losses_in_a_row = 0;
    std::size_t next = 0;
    for (; loss; loss = run_from(cases, next, cases.size(), results)) {
      if (loss->unusable) throw UnusableDriver(loss->fault);
      const auto proof = last_right(cases, results);
      if (proof) require_answer(*proof, loss->fault);
      if (++losses > most_losses) throw UnusableDriver(loss->fault + ", and others do as well");
      results[loss->index] = {Outcome::wrong, loss->fault};
      const bool in_a_row = loss->index == next && next != passes.round;
      losses_in_a_row = in_a_row ? losses_in_a_row + 1 : 1;
      next = loss->index + 1;
      if (losses_in_a_row == most_losses_in_a_row) {
        if (!proof) throw DeadDriver(loss->fault);
        give_up_longer(passes, loss->index, results);
        while (next < cases.size() && results[next].outcome != Outcome::not_run) ++next;
      }
      if (next == cases.size()) break;
    }
  }

  // After a loss the cases of the same purpose are not gone on with, but each probe stands alone.
  void finish(const std::vector<Case>& cases, const Case& proof, std::optional<Loss> loss,
              std::vector<CaseResult>& results) {
    while (loss) {
      const auto purpose = cases[loss->index].purpose;
      if (loss->unusable && purpose == CasePurpose::driver) throw UnusableDriver(loss->fault);
      if (!loss->unusable) require_answer(proof, loss->fault);
      results[loss->index] = {Outcome::wrong, loss->fault};
      if (purpose == CasePurpose::driver) return;
      std::size_t next = loss->index + 1;
      while (next < cases.size() && purpose == CasePurpose::stealing &&
             cases[next].purpose == purpose) {
        ++next;
      }
      if (next == cases.size()) return;
      loss = run_from(cases, next, cases.size(), results);
    }
  }

  static std::vector<CaseResult> by_length(const LengthCases& passes,
                                           const std::vector<CaseResult>& results) {
    std::vector<std::size_t> order(results.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return passes.cases[a].length < passes.cases[b].length;
    });
    std::vector<CaseResult> sorted;
    for (const std::size_t i : order) sorted.push_back(results[i]);
    return sorted;
  }

  // Takes for lost what is longer than the case at `lost`; where that is a round one, the
  // neighbours above the last good one as well.
  static void give_up_longer(const LengthCases& passes, std::size_t lost,
                             std::vector<CaseResult>& results) {
    const bool is_round = lost < passes.round;
    std::size_t last_good = 0;
    for (std::size_t i = 0; is_round && i < lost; ++i) {
      if (results[i].outcome == Outcome::right) last_good = passes.cases[i].length;
    }
    for (std::size_t i = lost + 1; i < results.size(); ++i) {
      const bool same_pass = (i < passes.round) == is_round;
      if (same_pass || passes.cases[i].length > last_good) results[i] = results[lost];
    }
  }

  static std::optional<Case> last_right(const std::vector<Case>& cases,
                                        const std::vector<CaseResult>& results) {
    for (std::size_t i = cases.size(); i-- > 0;) {
      if (results[i].outcome == Outcome::right) return cases[i];
    }
    return {};
  }

  // After a loss: does the driver still do what it did before? A hung engine does not.
  void require_answer(const Case& proof, const std::string& fault) {
    std::vector<CaseResult> result(1);
    if (run_from({proof}, 0, 1, result) || result[0].outcome != Outcome::right) {
      throw DeadDriver(fault + "; the driver answers nothing since");
    }
  }

  TestSubject subject_;
  kernel::Transport& transport_;
  const HelperLimits& limits_;
  const OpensslContext& software_;
};

std::string first_fault(const std::vector<CaseResult>& results) {
  for (const auto& result : results) {
    if (result.outcome == Outcome::wrong) return result.fault;
  }
  return {};
}

// Of the cases of one purpose.
std::string first_fault(const std::vector<Case>& cases, const std::vector<CaseResult>& results,
                        CasePurpose purpose) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool counts = cases[i].purpose == purpose && results[i].outcome == Outcome::wrong;
    if (counts) return results[i].fault;
  }
  return {};
}

SelfTestResult taken_out(std::string fault, bool dead = false) {
  return {SelfTestVerdict::taken_out, {}, std::move(fault), dead};
}

// What a probe found, with why it does no harm.
std::string harmless(CaseKind probe, const std::string& fault) {
  switch (probe) {
    case CaseKind::partial_block:
      return "a partial last block goes wrong, but kaccel sends whole blocks only: " + fault;
    case CaseKind::turned_session:
      return "encryption after decryption on one session goes wrong, but kaccel keeps a session "
             "for each direction: " +
             fault;
    default:
      return "an empty message goes wrong, but kaccel keeps these in software: " + fault;
  }
}

// All that comes after the lengths, for a driver that is right at these.
std::vector<Case> rest_cases(const TestSubject& subject,
                             const std::vector<std::size_t>& good_lengths) {
  auto cases = further_cases(subject.algorithm, good_lengths);
  const auto append = [&](const std::vector<Case>& more) {
    cases.insert(cases.end(), more.begin(), more.end());
  };
  if (subject.algorithm.kind == Kind::data_units) {
    const auto lengths = stealing_lengths(subject.known);
    if (!lengths.empty()) append(stealing_cases(lengths));
  }
  append(probe_cases(subject.algorithm, good_lengths));
  return cases;
}

void judge_rest(const TestSubject& subject, const std::vector<Case>& cases,
                const std::vector<CaseResult>& results, SelfTestResult& result) {
  auto fault = first_fault(cases, results, CasePurpose::driver);
  if (!fault.empty()) {
    result = taken_out(std::move(fault));
    return;
  }
  if (subject.algorithm.kind == Kind::data_units) {
    result.stealing_fault = stealing_lengths(subject.known).empty()
                                ? "the driver's restrictions permit no such length"
                                : first_fault(cases, results, CasePurpose::stealing);
    result.ciphertext_stealing = result.stealing_fault.empty();
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].purpose == CasePurpose::probe && results[i].outcome == Outcome::wrong) {
      result.harmless_faults.push_back(harmless(cases[i].kind, results[i].fault));
    }
  }
}

// On a driver that was tested before.
SelfTestResult test_again(const TestSubject& subject, kernel::Transport& transport,
                          const HelperLimits& limits) {
  auto [result, same_key_size] = *subject.earlier;
  if (result.verdict == SelfTestVerdict::taken_out) return result;
  Battery battery(subject, transport, limits);
  battery.restrict_to(result.found);
  const auto lengths = test_lengths(subject.algorithm, battery.subject().known);
  const auto cases = same_key_size ? repeat_cases(subject.algorithm, lengths)
                                   : other_key_size_cases(subject.algorithm, lengths);
  auto fault =
      first_fault(battery.run_rest(cases, {.kind = CaseKind::length, .length = lengths.front()}));
  result.harmless_faults.clear();  // told already
  return fault.empty() ? result : taken_out(std::move(fault));
}

SelfTestResult test_in_steps(const TestSubject& subject, kernel::Transport& transport,
                             const HelperLimits& limits) {
  if (subject.earlier) {
    auto again = test_again(subject, transport, limits);
    const bool passed = again.verdict != SelfTestVerdict::taken_out;
    if (passed || again.dead || subject.earlier->same_key_size) return again;
  }
  Battery battery(subject, transport, limits);
  const auto lengths = test_lengths(subject.algorithm, subject.known);
  auto rest = rest_cases(subject, lengths);
  auto [by_length, rest_results] = battery.run_lengths(length_cases(lengths), rest);

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

  if (!rest_results) {
    battery.restrict_to(*rule);
    rest = rest_cases(battery.subject(), good_lengths);
    rest_results =
        battery.run_rest(rest, {.kind = CaseKind::length, .length = good_lengths.front()});
  }
  const auto verdict = fault.empty() ? SelfTestVerdict::passed : SelfTestVerdict::restricted;
  SelfTestResult result{verdict, *rule, std::move(fault)};
  judge_rest(battery.subject(), rest, *rest_results, result);
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
