#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/subject.hpp"
#include "calibrate/served_algorithms.hpp"
#include "provider/config_file.hpp"
#include "provider/settings.hpp"

namespace kaccel::calibrate::doctor {
namespace {

using Values = std::map<std::string, std::string>;
using Lines = std::vector<const ConfigurationLine*>;

constexpr std::string_view prefix = "thresholds.";

std::optional<SettingsError> first_error(const Values& values, Settings& settings) {
  const auto lookup = [&](const char* key) -> const char* {
    const auto found = values.find(key);
    return found != values.end() ? found->second.c_str() : nullptr;
  };
  if (auto error = find_unknown_key(values)) return error;
  return parse_settings(lookup, settings);
}

// Messages begin with the key.
std::string key_of(const SettingsError& error) {
  return error.message.substr(0, error.message.find_first_of(" :"));
}

// "AES-128-CBC." of "thresholds.AES-128-CBC.encrypt"; the key as it is where it is of no group.
std::string group_of(const std::string& key) {
  const auto dot = key.rfind('.');
  return key.starts_with(prefix) && dot >= prefix.size() ? key.substr(0, dot + 1) : key;
}

// The entries of a map that are of this group, or have this key where it is of none.
template <class ByKey>
auto range_of(ByKey& by_key, const std::string& key) {
  const std::string group = group_of(key);
  if (group == key) return by_key.equal_range(key);
  const std::string behind = group.substr(0, group.size() - 1) + char('.' + 1);
  return std::pair(by_key.lower_bound(group), by_key.lower_bound(behind));
}

class SettingsCheck {
 public:
  SettingsCheck(const Subject& subject, const Sections& sections, Findings& findings)
      : subject_(subject),
        sections_(sections),
        findings_(findings),
        thresholds_(subject.conf.value(sections.kaccel, "thresholds")) {
    for (const auto& line : subject.lines.keys) {
      if (line.section == sections.kaccel) by_key_[line.key].push_back(&line);
      if (thresholds_ && line.section == *thresholds_) {
        by_key_[std::string(prefix) + line.key].push_back(&line);
      }
    }
  }

  // `section`: kaccel's, flattened.
  void run(ConfigSection section) {
    const Settings settings = check_keys(section.values);
    check_statistics(settings);
    check_forced(settings);
    // What an include that cannot be read would bring is not missing; check_files tells of it.
    if (section.unreadable_include.empty()) check_section(settings);
    check_drivers(settings);
    check_origin(settings);
  }

 private:
  // The provider stops at the first fault; here all are told, each fault's keys being left out
  // before the next look.
  Settings check_keys(Values& values) {
    constexpr std::size_t most_told = 20;
    Settings settings;
    std::size_t faults = 0;
    Lines untold;
    while (const auto error = first_error(values, settings)) {
      const std::string key = key_of(*error);
      const Lines lines = lines_of(key);
      fault_in_thresholds_ = fault_in_thresholds_ || key.starts_with(prefix);
      if (++faults <= most_told) {
        tell_fault(key, error->message, lines);
      } else {
        untold.insert(untold.end(), lines.begin(), lines.end());
      }
      const auto [first, last] = range_of(values, key);
      if (first == last) break;
      values.erase(first, last);
    }
    if (faults == 0) findings_.push_back(ok("keys", "every key is known and has a fit value"));
    if (!untold.empty()) tell_more(faults - most_told, untold);
    return settings;
  }

  void tell_more(std::size_t faults, const Lines& lines) {
    findings_.push_back({State::problem,
                         "keys",
                         fmt::format("{} more are unknown or have no fit value", faults),
                         describe(*lines.front()),
                         "kaccel stays in software",
                         {comment_out(lines)}});
  }

  void tell_fault(const std::string& key, const std::string& message, const Lines& lines) {
    const bool measured = key.starts_with(prefix);
    Finding finding{State::problem,
                    "keys",
                    printable(message, 300),
                    lines.empty() ? section_text(measured) : describe(line_of(key, lines)),
                    "kaccel stays in software",
                    {comment_out(lines)}};
    if (measured && has_usable_hardware(subject_.machine)) {
      finding.mend.commands = {calibrate_command(subject_)};
      finding.mend.remark = "or mend the line by hand";
    } else {
      finding.mend.remark = "then the default counts; or mend the line by hand";
    }
    findings_.push_back(std::move(finding));
  }

  // Of a group's lines the one that the message is about.
  static const ConfigurationLine& line_of(const std::string& key, const Lines& lines) {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto* line) {
      return line->key == key || std::string(prefix) + line->key == key;
    });
    return **(found != lines.end() ? found : lines.begin());
  }

  std::string section_text(bool measured) const {
    return fmt::format("{}, [{}]", printable(subject_.path, 200),
                       printable(measured ? thresholds_.value_or("") : sections_.kaccel));
  }

  void check_statistics(const Settings& settings) {
    const std::string& directory = settings.statistics;
    if (directory.empty()) return;
    struct stat status {};
    const bool exists = stat(directory.c_str(), &status) == 0;
    const bool is_there = exists && S_ISDIR(status.st_mode);
    constexpr mode_t everybodys = S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO;
    if (is_there && (status.st_mode & everybodys) == everybodys) {
      findings_.push_back(ok("statistics", printable(directory, 200)));
      return;
    }
    const auto* line = subject_.lines.find(sections_.kaccel, "statistics");
    Finding finding{State::warning, "statistics",
                    fmt::format("{} {}", printable(directory, 200),
                                is_there ? "is not writable for every user" : "is no directory"),
                    place(subject_, sections_.kaccel, "statistics"),
                    is_there ? "programs of other users are not counted" : "nothing is counted"};
    if (exists && !is_there && line != nullptr) {
      finding.mend = {comment_out({line}), {}, {}, "or name a directory: /run/kaccel"};
    } else {
      finding.mend.commands = {fmt::format("{} {}", is_there ? "chmod 1777" : "mkdir -p -m 1777",
                                           shell_word(directory))};
    }
    findings_.push_back(std::move(finding));
  }

  // An experiment's, mostly; right where it is meant, so that there is nothing to mend.
  void check_forced(const Settings& settings) {
    if (!settings.force_threshold) return;
    Finding finding{State::warning, "force_threshold",
                    fmt::format("force_threshold = {} counts in place of every threshold",
                                *settings.force_threshold),
                    place(subject_, sections_.kaccel, "force_threshold"),
                    *settings.force_threshold < 0
                        ? "nothing goes to hardware"
                        : "hardware also gets calls for which software is faster"};
    if (const auto* line = subject_.lines.find(sections_.kaccel, "force_threshold")) {
      finding.mend.remark =
          fmt::format("if it is left from an experiment: {}", comment_out({line}).front().text);
    }
    findings_.push_back(std::move(finding));
  }

  // Of a flattened key and its group, in the order of the file.
  Lines lines_of(const std::string& key) const {
    Lines result;
    const auto [first, last] = range_of(by_key_, key);
    for (auto each = first; each != last; ++each) {
      result.insert(result.end(), each->second.begin(), each->second.end());
    }
    std::sort(result.begin(), result.end(), std::less<>());
    return result;
  }

  // Another section of thresholds than the one that is named.
  const std::string* section_of_thresholds() const {
    return doctor::section_of_thresholds(subject_.lines, sections_.kaccel);
  }

  void check_section(const Settings& settings) {
    const char* const check = "thresholds";
    const bool can_measure = has_usable_hardware(subject_.machine);
    if (settings.calibrated) {
      findings_.push_back(ok(check, fmt::format("in section [{}]", printable(*thresholds_))));
      return;
    }
    if (!thresholds_ && !can_measure && section_of_thresholds() == nullptr) {
      findings_.push_back(ok(check, "none, and there is no hardware driver here to measure"));
      return;
    }
    // That groups were left out for their faults has been told, and where the file is instead.
    if (fault_in_thresholds_ && settings.missing_section.empty()) return;
    const auto& includes = subject_.lines.includes;
    if (std::any_of(includes.begin(), includes.end(), [&](const Include& include) {
          return file_that_was_meant(subject_, include).has_value();
        })) {
      return;
    }
    Finding finding{State::warning,
                    check,
                    {},
                    place(subject_, sections_.kaccel, "thresholds"),
                    "only drivers that kaccel knows are used, with their published thresholds"};
    if (!thresholds_) {
      finding.what = "kaccel's section names no thresholds";
    } else if (settings.missing_section.empty()) {
      finding.what = fmt::format("section [{}] holds no thresholds", printable(*thresholds_));
    } else {
      finding.what =
          fmt::format("thresholds = {} names a section that is not there", printable(*thresholds_));
    }
    finding.mend = mend_section(can_measure);
    findings_.push_back(std::move(finding));
  }

  Mend mend_section(bool can_measure) const {
    const std::string header = fmt::format("[{}]", sections_.kaccel);
    if (const auto* other = section_of_thresholds()) {
      return {{}, {header, "thresholds = " + *other}, subject_.path, {}};
    }
    const std::string file = thresholds_path(subject_);
    const bool included =
        std::any_of(subject_.lines.includes.begin(), subject_.lines.includes.end(),
                    [&](const Include& include) { return include.path == file; });
    std::error_code error;
    const bool written = std::filesystem::is_regular_file(file, error);
    if (!can_measure && (included || !written)) {
      const auto* line = subject_.lines.find(sections_.kaccel, "thresholds");
      if (line == nullptr) return {};
      return {comment_out({line}), {}, {}, "there is no hardware driver here to measure"};
    }
    Mend mend{{}, {}, subject_.path, {}};
    if (!written || included) mend.commands = {calibrate_command(subject_)};
    if (!thresholds_) mend.lines = {header, "thresholds = kaccel_thresholds"};
    // The last line: it ends the section it stands in.
    if (!included) mend.lines.push_back(".include " + file);
    return mend;
  }

  // "" where the driver is here and computes the algorithm.
  std::string why_not_here(const Algorithm& algorithm, const std::string& driver) const {
    const auto& drivers = subject_.machine.drivers;
    const kernel::Driver* other = nullptr;
    for (const auto& each : drivers) {
      if (each.entry.driver != driver) continue;
      if (each.algorithm == algorithm.kernel_algorithm) return why_not_served(each, algorithm);
      other = &each;
    }
    if (other == nullptr) return "/proc/crypto does not list it";
    return fmt::format("it is a driver of {}", other->entry.name);
  }

  std::string why_not_bound(const Algorithm& algorithm, const std::string& driver) const {
    for (const auto& each : subject_.machine.drivers) {
      if (each.entry.driver != driver || each.algorithm != algorithm.kernel_algorithm) continue;
      const auto status = kernel::probe(subject_.machine.transport, each);
      return status ? "" : why_unusable(each, status, subject_.machine.kernel);
    }
    return {};
  }

  void check_drivers(const Settings& settings) {
    const char* const check = "drivers";
    std::map<std::string, std::set<std::string>> groups;  // by driver and why it cannot be used
    std::map<std::string, bool> absent;
    std::size_t named = 0;
    for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
      const auto& driver = settings.algorithms[row].driver;
      if (driver.empty()) continue;
      ++named;
      const auto& algorithm = algorithm_table[row];
      std::string why = why_not_here(algorithm, driver);
      const bool not_here = !why.empty();
      // Without AF_ALG none binds, which is told once.
      if (why.empty() && subject_.machine.af_alg) why = why_not_bound(algorithm, driver);
      if (why.empty()) continue;
      const std::string key = fmt::format("{}: {}", printable(driver), why);
      groups[key].insert(algorithm.name);
      absent[key] = not_here;
    }
    if (groups.empty()) {
      findings_.push_back(ok(check, named == 0
                                        ? "the thresholds name none"
                                        : fmt::format("all {} that are named are here", named)));
    }
    for (const auto& [why, names] : groups) tell_driver(why, names, absent[why]);
    for (const auto& [driver, names] : on_the_cpu(settings)) tell_software_driver(driver, names);
  }

  // Drivers that are named and compute on the CPU, with their algorithms.
  std::map<std::string, std::set<std::string>> on_the_cpu(const Settings& settings) const {
    std::map<std::string, std::set<std::string>> result;
    for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
      for (const auto& each : subject_.machine.drivers) {
        if (each.entry.driver == settings.algorithms[row].driver &&
            each.algorithm == algorithm_table[row].kernel_algorithm &&
            each.hardness != kernel::Hardness::hardware) {
          result[fmt::format("{} is no hardware: {}", printable(each.entry.driver), each.reason)]
              .insert(algorithm_table[row].name);
        }
      }
    }
    return result;
  }

  void tell_software_driver(const std::string& what, const std::set<std::string>& names) {
    const Lines lines = lines_of_groups(names);
    Finding finding{
        State::warning, "drivers", what,
        lines.empty() ? section_text(true) : describe(*lines.front()),
        fmt::format("calls of {} above the threshold go through the kernel and gain nothing",
                    fmt::join(names, ", "))};
    if (has_usable_hardware(subject_.machine)) {
      finding.mend.commands = {calibrate_command(subject_)};
    } else {
      finding.mend.commands = comment_out(lines);
    }
    findings_.push_back(std::move(finding));
  }

  Lines lines_of_groups(const std::set<std::string>& names) const {
    Lines result;
    for (const auto& name : names) {
      const Lines lines = lines_of(std::string(prefix) + name + ".driver");
      result.insert(result.end(), lines.begin(), lines.end());
    }
    std::sort(result.begin(), result.end(), std::less<>());
    return result;
  }

  void tell_driver(const std::string& why, const std::set<std::string>& names, bool absent) {
    const Lines lines = lines_of_groups(names);
    Finding finding{State::warning, "drivers", why,
                    lines.empty() ? section_text(true) : describe(*lines.front()),
                    fmt::format("{} {} in software", fmt::join(names, ", "),
                                names.size() == 1 ? "stays" : "stay")};
    if (absent) {
      finding.what += "; were the thresholds measured on another machine?";
      if (has_usable_hardware(subject_.machine)) {
        finding.mend.commands = {calibrate_command(subject_)};
      } else {
        finding.mend = {comment_out(lines), {}, {}, "there is no hardware driver here to measure"};
      }
    }
    findings_.push_back(std::move(finding));
  }

  // The file's head tells where it was measured; see thresholds_file_text().
  void check_origin(const Settings& settings) {
    if (!settings.calibrated) return;
    for (const auto& file : subject_.lines.files) {
      std::ifstream in(file);
      std::string head;
      std::getline(in, head);
      constexpr std::string_view mark = ", Linux ";
      const auto at = head.find(mark);
      if (!head.starts_with("# kaccel thresholds, measured by") || at == std::string::npos)
        continue;
      std::string release = head.substr(at + mark.size());
      release.erase(std::min(release.find_last_not_of(".\r\n") + 1, release.size()));
      tell_origin(file, release);
      return;
    }
  }

  void tell_origin(const std::string& file, const std::string& release) {
    KernelFacts then;
    parse_release(release, then);
    const KernelFacts& now = subject_.machine.kernel;
    if (then.major == now.major && then.minor == now.minor) {
      findings_.push_back(ok("calibration", "measured on Linux " + printable(release)));
      return;
    }
    Finding finding{
        State::warning, "calibration",
        fmt::format("measured on Linux {}, this is {}", printable(release), now.release),
        printable(file, 200), "the thresholds may no longer be the best"};
    if (has_usable_hardware(subject_.machine))
      finding.mend.commands = {calibrate_command(subject_)};
    findings_.push_back(std::move(finding));
  }

  const Subject& subject_;
  const Sections& sections_;
  Findings& findings_;
  std::optional<std::string> thresholds_;
  std::map<std::string, Lines> by_key_;  // flattened
  bool fault_in_thresholds_ = false;
};

void tell_knot(const Subject& subject, const ConfigSection::Knot& knot, Findings& findings) {
  Lines lines;
  for (const auto& line : subject.lines.keys) {
    if (line.section == knot.section && line.value == knot.value) lines.push_back(&line);
  }
  findings.push_back(
      {State::problem,
       "keys",
       fmt::format("{} = {} {}", printable(knot.key), printable(knot.value), knot.problem),
       lines.empty() ? place(subject, knot.section, knot.key) : describe(*lines.front()),
       subject.trial.refused.empty() ? "kaccel cannot tell which of its keys are right"
                                     : refusal(subject),
       {comment_out(lines)}});
}

}  // namespace

const std::string* section_of_thresholds(const ConfigurationLines& lines,
                                         const std::string& other_than) {
  for (const auto& line : lines.keys) {
    if (line.section == "default" || line.section == other_than) continue;
    if (line.key == "calibrated" ||
        find_settings_key(std::string(prefix) + line.key) < known_settings_keys().size()) {
      return &line.section;
    }
  }
  return nullptr;
}

void check_settings(const Subject& subject, const Sections& sections, Findings& findings) {
  std::string problem;
  const auto section = read_config_section(subject.path, problem);
  if (!section) return;  // told by check_links
  if (section->knot) {
    tell_knot(subject, *section->knot, findings);
    return;
  }
  SettingsCheck(subject, sections, findings).run(*section);
}

}  // namespace kaccel::calibrate::doctor
