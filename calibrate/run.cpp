#include "calibrate/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "calibrate/algorithm_names.hpp"
#include "calibrate/atomic_file.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/command_error.hpp"
#include "calibrate/concurrent_callers.hpp"
#include "calibrate/driver_choice.hpp"
#include "calibrate/measure_algorithm.hpp"
#include "calibrate/openssl_context.hpp"
#include "calibrate/progress.hpp"
#include "calibrate/report.hpp"
#include "calibrate/served_algorithms.hpp"
#include "calibrate/thresholds_file.hpp"
#include "calibrate/thresholds_place.hpp"
#include "provider/config_file.hpp"
#include "provider/special_files.hpp"

namespace kaccel::calibrate {
namespace {

constexpr std::size_t largest_size = std::size_t{16} << 20;
constexpr const char* standard_output = "-";

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

// In the order of the table, each once, whatever the user's: GCM's test makes use of CTR's.
std::vector<const Algorithm*> wanted_algorithms(const std::vector<std::string>& names) {
  std::set<const Algorithm*> named;
  for (const auto& name : names) named.insert(&algorithm_named(name));
  std::vector<const Algorithm*> wanted;
  for (const auto& algorithm : algorithm_table) {
    if (names.empty() || named.contains(&algorithm)) wanted.push_back(&algorithm);
  }
  return wanted;
}

std::string output_path(const RunOptions& options) {
  std::string path = options.output ? *options.output : default_output_path();
  if (path.empty()) {
    throw CommandError(exit_cannot, "no place for the thresholds file",
                       "OpenSSL names no configuration directory", "say --output FILE");
  }
  if (path != standard_output) check_replaceable(path);
  return path;
}

class Calibrator {
 public:
  Calibrator(const RunOptions& options, const Machine& machine, std::ostream& notes)
      : options_(options),
        machine_(machine),
        notes_(notes),
        sizes_(options.sizes.empty() ? default_sizes() : parse_sizes(options.sizes)),
        preference_(parse_preference(options.prefer)),
        threads_(parse_threads(options.threads)),
        progress_(!options.quiet) {}

  Calibration calibrate(const std::vector<const Algorithm*>& algorithms,
                        const DriverChoice& choice) {
    Calibration calibration{utc_now(), machine_.kernel.release, {}, {}, preference_, threads_};
    for (const auto* algorithm : algorithms) {
      const auto candidates = choice.candidates(*algorithm);
      for (const auto& passed_over : candidates.passed_over) {
        calibration.skipped.push_back(passed_over);
      }
      if (!candidates.drivers.empty() && needs_legacy(*algorithm) && !legacy_is_installed()) {
        calibration.skipped.push_back({algorithm->name, "",
                                       "OpenSSL's legacy provider (legacy.so) is not installed, "
                                       "and without it neither OpenSSL nor kaccel has single DES"});
        continue;
      }
      add_first_good(*algorithm, candidates.drivers, calibration);
    }
    progress_.clear();
    return calibration;
  }

 private:
  // The first driver that passes its self-test; if none does, the last one's fault is on record and
  // keeps hardware off.
  void add_first_good(const Algorithm& algorithm, const std::vector<const kernel::Driver*>& drivers,
                      Calibration& calibration) {
    for (std::size_t i = 0; i < drivers.size(); ++i) {
      auto result = calibrate_on(algorithm, *drivers[i]);
      const bool good = result.self_test.verdict != SelfTestVerdict::taken_out;
      if (good || i + 1 == drivers.size()) {
        calibration.algorithms.push_back(std::move(result));
        return;
      }
      calibration.skipped.push_back({algorithm.name, result.driver, result.self_test.fault});
    }
  }

  CalibratedAlgorithm calibrate_on(const Algorithm& algorithm, const kernel::Driver& driver) {
    const auto known =
        driver.known != nullptr ? driver.known->restrictions : kernel::Restrictions{};
    CalibratedAlgorithm result{algorithm.name, driver.entry.driver, {}, {}, {}};
    if (dead_drivers_.contains(result.driver)) {
      result.self_test = {
          SelfTestVerdict::taken_out, {}, "the driver hung before, or was too slow", true};
      note_fault(result);
      return result;
    }
    note_known_faults(driver);
    progress_.show(fmt::format("{} on {}: self-test", algorithm.name, result.driver));
    result.self_test = self_test(
        {algorithm, result.driver, not_to_try(known), earlier_test(algorithm, result.driver)},
        machine_.transport, options_.limits);
    if (algorithm.kind == Kind::blocks) {
      block_tests_.insert_or_assign({result.name, result.driver}, result.self_test);
    }
    note_fault(result);
    note_vanished_faults(result, driver);
    if (result.self_test.dead) dead_drivers_.insert(result.driver);
    if (result.self_test.verdict != SelfTestVerdict::taken_out) measure(algorithm, known, result);
    return result;
  }

  // What the self-test must keep from a driver: of the known restrictions those of keys in any
  // case.
  kernel::Restrictions not_to_try(const kernel::Restrictions& known) const {
    if (!options_.test_known_faults) return known;
    return {.refused_keys = known.refused_keys,
            .refuses_repeated_des_keys = known.refuses_repeated_des_keys};
  }

  // Once a driver.
  void note_known_faults(const kernel::Driver& driver) {
    if (driver.known == nullptr || !noted_drivers_.insert(driver.entry.driver).second) return;
    const bool split = driver.known->restrictions.max_size < kernel::Restrictions{}.max_size;
    const char* const avoided =
        split ? "longer calls are split, not tried" : "such calls stay in software, not tried";
    for (const char* fault : driver.known->avoided) {
      if (fault == nullptr) continue;
      note(fmt::format("{}: known: {}: {}", driver.entry.driver, fault,
                       options_.test_known_faults ? "tried all the same" : avoided));
    }
  }

  // The known ones were tried, and nothing came of it.
  void note_vanished_faults(const CalibratedAlgorithm& result, const kernel::Driver& driver) {
    const bool has_known_faults = driver.known != nullptr && driver.known->avoided[0] != nullptr;
    if (!options_.test_known_faults || !has_known_faults ||
        result.self_test.verdict != SelfTestVerdict::passed) {
      return;
    }
    note(fmt::format("{}: {}: the known faults did not show; kaccel avoids them all the same",
                     result.driver, result.name));
  }

  // In this run, of the same driver: with keys of the same size (CTR for GCM, two-key 3DES for
  // three keys, if these can be had at all), else of another size in the same mode.
  std::optional<TestSubject::Earlier> earlier_test(const Algorithm& algorithm,
                                                   const std::string& driver) const {
    std::optional<TestSubject::Earlier> other_size;
    for (const auto& row : algorithm_table) {
      if (&row == &algorithm) break;
      const bool same_mode = row.kernel_algorithm == algorithm.kernel_algorithm;
      const auto found = same_mode ? block_tests_.find({row.name, driver}) : block_tests_.end();
      if (found == block_tests_.end()) continue;
      const auto& result = found->second;
      const bool failed = result.verdict == SelfTestVerdict::taken_out;
      if (driver_key_size(row) == driver_key_size(algorithm)) {
        if (algorithm.kind == Kind::gcm || !failed) return TestSubject::Earlier{result, true};
      } else if (algorithm.kind == Kind::blocks && !failed && !other_size) {
        other_size = TestSubject::Earlier{result, false};
      }
    }
    return other_size;
  }

  void measure(const Algorithm& algorithm, const kernel::Restrictions& known,
               CalibratedAlgorithm& result) {
    const MeasurementPlan plan{
        algorithm,
        result.driver,
        {kernel::combine(known, result.self_test.found), result.self_test.ciphertext_stealing},
        sizes_to_measure(algorithm, sizes_),
        preference_,
        threads_};
    const auto verb = [&](kernel::Direction direction) {
      if (is_mac(algorithm)) return "MAC of";
      return direction == kernel::Direction::encrypt ? "encrypt" : "decrypt";
    };
    const auto show = [&](kernel::Direction direction, std::size_t size) {
      progress_.show(fmt::format("{} on {}: {} {} bytes", algorithm.name, result.driver,
                                 verb(direction), size));
    };
    auto measured = measure_algorithm(plan, software_, machine_.transport, show, options_.limits);
    note_failures(result, measured.encrypt, verb(kernel::Direction::encrypt));
    note_failures(result, measured.decrypt, verb(kernel::Direction::decrypt));
    result.encrypt = decided(std::move(measured.encrypt));
    result.decrypt = decided(std::move(measured.decrypt));
    note_doubt(result, result.encrypt, verb(kernel::Direction::encrypt));
    note_doubt(result, result.decrypt, verb(kernel::Direction::decrypt));
  }

  static CalibratedDirection decided(std::vector<SizeMeasurement> measurements) {
    const auto judged = verdicts(measurements);
    const Threshold threshold = choose_threshold(judged);
    return {threshold, std::move(measurements), doubt(sizes_against(judged, threshold))};
  }

  static std::string doubt(const std::vector<std::size_t>& sizes_against) {
    if (sizes_against.empty()) return {};
    return fmt::format(
        "at {} bytes the other side did better; if it still does on a quiet machine, no single "
        "threshold fits all sizes",
        fmt::join(sizes_against, ", "));
  }

  void note(const std::string& line) {
    progress_.clear();
    notes_ << "kaccel-calibrate: " << line << std::endl;
  }

  void note_fault(const CalibratedAlgorithm& result) {
    const auto& test = result.self_test;
    if (!test.stealing_fault.empty()) {
      note(fmt::format("{}: {}: ciphertext stealing stays in software: {}", result.driver,
                       result.name, test.stealing_fault));
    }
    for (const auto& fault : test.harmless_faults) {
      if (!noted_faults_.insert({result.driver, fault}).second) continue;
      note(fmt::format("{}: does no harm: {}", result.driver, fault));
    }
    if (test.verdict == SelfTestVerdict::passed) return;
    const char* const verdict =
        test.verdict == SelfTestVerdict::taken_out ? "taken out" : "restricted";
    note(fmt::format("{}: {}: {} in the self-test: {}", result.driver, result.name, verdict,
                     test.fault));
  }

  void note_failures(const CalibratedAlgorithm& result,
                     const std::vector<SizeMeasurement>& measurements, const char* direction) {
    for (const auto& m : measurements) {
      if (m.winner != Winner::failed) continue;
      note(fmt::format("{}: {}, {} {} bytes: not measured, so not enabled up to this size: {}",
                       result.driver, result.name, direction, m.size, m.problem));
      return;
    }
  }

  void note_doubt(const CalibratedAlgorithm& result, const CalibratedDirection& direction,
                  const char* verb) {
    if (direction.doubt.empty()) return;
    note(fmt::format("{}: {}, {}: {}", result.driver, result.name, verb, direction.doubt));
  }

  const RunOptions& options_;
  const Machine& machine_;
  std::ostream& notes_;
  std::vector<std::size_t> sizes_;
  Preference preference_;
  unsigned threads_;
  SoftwareContexts software_;
  std::set<std::string> dead_drivers_;
  std::set<std::string> noted_drivers_;  // whose known faults have been told
  // Driver and fault: keys of all sizes show the same.
  std::set<std::pair<std::string, std::string>> noted_faults_;
  // By algorithm and driver.
  std::map<std::pair<std::string, std::string>, SelfTestResult> block_tests_;
  Progress progress_;
};

// Whether the configuration that OpenSSL reads by default brings what was just written.
bool is_in_use(const Calibration& calibration) {
  const std::string path = default_config_path();
  std::string problem;
  // What can be read only once is not for this program to read.
  if (special_kind(path) != nullptr) return false;
  const auto section = read_config_section(path, problem);
  if (!section) return false;
  const auto says = [&](const std::string& key, const std::string& value) {
    const auto found = section->values.find("thresholds." + key);
    return found != section->values.end() && found->second == value;
  };
  const auto says_all = [&](const CalibratedAlgorithm& algorithm) {
    const std::string& name = algorithm.name;
    const auto encrypt = std::to_string(algorithm.encrypt.threshold);
    if (!says(name + ".driver", algorithm.driver)) return false;
    return is_mac(name) ? says(name + ".threshold", encrypt)
                        : says(name + ".encrypt", encrypt) &&
                              says(name + ".decrypt", std::to_string(algorithm.decrypt.threshold));
  };
  return says("calibrated", "yes") &&
         std::all_of(calibration.algorithms.begin(), calibration.algorithms.end(), says_all);
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  const char* position = text.data();
  const char* const end = position + text.size();
  for (;;) {
    std::size_t size = 0;
    const auto [stop, error] = std::from_chars(position, end, size);
    if (error != std::errc{} || (stop != end && *stop != ',') || size == 0 || size > largest_size) {
      throw CommandError(exit_bad_input, "wrong --sizes", printable(text),
                         fmt::format("give numbers of bytes from 1 to {} with commas between, for "
                                     "example 16,256,1024",
                                     largest_size));
    }
    sizes.push_back(size);
    if (stop == end) break;
    position = stop + 1;
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

unsigned parse_threads(const std::string& text) {
  unsigned threads = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, threads);
  if (error != std::errc{} || stop != end || threads == 0 || threads > ConcurrentCallers::most) {
    throw CommandError(
        exit_bad_input, "wrong --threads", printable(text),
        fmt::format("give the number of callers at a time, 1 to {}", ConcurrentCallers::most));
  }
  return threads;
}

int run(const RunOptions& options, const Machine& machine, std::ostream& out, std::ostream& notes) {
  Calibrator calibrator(options, machine, notes);
  const auto algorithms = wanted_algorithms(options.algorithms);
  const DriverChoice choice(machine, algorithms, options.drivers);
  const std::string path = output_path(options);
  if (machine.kernel.seccomp_filter) {
    notes << "kaccel-calibrate: a seccomp filter is in force here, a container's or a service's: "
             "programs under it use no hardware unless kaccel's section says under_seccomp = yes"
          << std::endl;
  }

  const auto calibration = calibrator.calibrate(algorithms, choice);

  const bool to_standard_output = path == standard_output;
  const auto text = thresholds_file_text(calibration, to_standard_output ? "" : path);
  if (!to_standard_output) replace_file(path, text);
  if (options.json) {
    print_report_json(calibration, path, out);
  } else if (to_standard_output) {
    out << text;
  } else if (!options.quiet) {
    print_report(calibration, out);
    out << fmt::format("\nWritten to {}", path);
    if (is_in_use(calibration)) {
      out << fmt::format(", which {} uses.\n", default_config_path());
    } else {
      out << fmt::format(". NOT USED YET: {} does not bring it. Say there:\n{}",
                         default_config_path(), include_instructions(path, "  "));
    }
  }
  return exit_done;
}

}  // namespace kaccel::calibrate
