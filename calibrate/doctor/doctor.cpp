#include "calibrate/doctor/doctor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>
#include <string_view>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/rehearsal.hpp"
#include "calibrate/doctor/subject.hpp"
#include "calibrate/json_text.hpp"
#include "calibrate/thresholds_place.hpp"
#include "provider/config_file.hpp"

namespace kaccel::calibrate {
namespace doctor {

std::string place(const Subject& subject, const std::string& section, const std::string& key) {
  if (const auto* line = subject.lines.find(section, key)) return describe(*line);
  return section == "default"
             ? fmt::format("{}, before the first section, {}", printable(subject.path, 200), key)
             : fmt::format("{}, [{}], {}", printable(subject.path, 200), printable(section), key);
}

std::string thresholds_path(const Subject& subject) {
  const std::string usual = thresholds_path_beside(subject.path);
  const auto& includes = subject.lines.includes;
  const auto named = std::find_if(includes.begin(), includes.end(), [](const Include& include) {
    return include.path.find("kaccel") != std::string::npos;
  });
  return named != includes.end() ? named->path : usual;
}

std::string calibrate_command(const Subject& subject) {
  return "kaccel-calibrate run --output " + shell_word(thresholds_path(subject));
}

bool is_shared(const Subject& subject) {
  // What lies in somebody's home is private where the home is.
  const char* home = std::getenv("HOME");
  if (home != nullptr && std::string_view(home).size() > 1 &&
      subject.path.starts_with(std::string(home) + "/")) {
    return false;
  }
  // What a user names by OPENSSL_CONF is that user's.
  const bool is_openssls =
      std::getenv("OPENSSL_CONF") == nullptr && subject.path == default_config_path();
  return is_openssls || geteuid() == 0;
}

std::string refusal(const Subject& subject) {
  const auto diagnostics = subject.conf.value("default", "config_diagnostics");
  if (subject.trial.refused.empty() || !diagnostics ||
      std::strtol(diagnostics->c_str(), nullptr, 10) <= 0) {
    return "OpenSSL drops the rest of the configuration";
  }
  return fmt::format(
      "OpenSSL drops the rest of the configuration, and with config_diagnostics = {} the command "
      "openssl ends with an error (libraries such as Python's go on)",
      printable(*diagnostics));
}

}  // namespace doctor

namespace {

using namespace doctor;

const char* name(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::warning:
      return "warning";
    case State::problem:
      break;
  }
  return "problem";
}

bool is_to_mend(const Finding& finding) {
  return finding.state == State::problem || !finding.mend.empty();
}

// `printed`: the commands that have been.
void print_mend(const Mend& mend, std::set<std::string>& printed, std::ostream& out) {
  bool is_new = false;
  for (const auto& command : mend.commands) is_new = printed.insert(command.text).second || is_new;
  if (is_new) {
    out << "    mend:  as root, run\n";
    for (const auto& command : mend.commands) out << fmt::format("        {}\n", command.text);
  }
  if (!is_new && !mend.commands.empty()) out << "    mend:  by the same command as above\n";
  if (!mend.lines.empty()) {
    out << fmt::format("    mend:  put at the end of {}, where they count whatever stands before\n",
                       printable(mend.file, 200));
    for (const auto& line : mend.lines) out << fmt::format("        {}\n", line);
  }
  if (!mend.remark.empty()) out << fmt::format("    ({})\n", mend.remark);
}

void print_text(const Findings& findings, std::ostream& out) {
  std::set<std::string> printed;
  for (const auto& finding : findings) {
    out << fmt::format("{:<8} {}: {}\n", name(finding.state), finding.check, finding.what);
    if (!finding.where.empty()) out << fmt::format("    where: {}\n", finding.where);
    if (!finding.means.empty()) out << fmt::format("    means: {}\n", finding.means);
    print_mend(finding.mend, printed, out);
  }
  const auto count = std::count_if(findings.begin(), findings.end(), is_to_mend);
  out << (count == 0
              ? "\nNothing to mend.\n"
              : fmt::format("\nTo mend: {}. Then run kaccel-calibrate doctor again.\n", count));
}

void print_json(const Findings& findings, std::ostream& out) {
  Json checks = Json::array();
  for (const auto& finding : findings) {
    Json json{{"state", name(finding.state)}, {"check", finding.check}, {"what", finding.what}};
    if (!finding.where.empty()) json["where"] = finding.where;
    if (!finding.means.empty()) json["means"] = finding.means;
    const auto& mend = finding.mend;
    for (const auto& command : mend.commands) json["commands"].push_back(command.text);
    if (!mend.lines.empty()) {
      json["file"] = mend.file;
      json["lines"] = mend.lines;
    }
    if (!mend.remark.empty()) json["remark"] = mend.remark;
    checks.push_back(std::move(json));
  }
  const auto count = std::count_if(findings.begin(), findings.end(), is_to_mend);
  out << json_text(Json{{"to_mend", count}, {"checks", std::move(checks)}});
}

}  // namespace

doctor::Findings examine(const std::string& path, const Machine& machine) {
  const auto lines = read_configuration_lines(path);
  const bool endless = is_endless(path, lines);
  const Trial trial = endless ? Trial{} : try_configuration(path);
  // What a helper did not come to the end of is not for this process.
  const OpensslConf conf = trial.was_read ? OpensslConf(path) : OpensslConf::of_text("");
  const Subject subject{path, conf, lines, machine, trial};
  Findings findings;
  bool off = false;
  if (!endless && !trial.was_read) {
    check_trial(subject, off, findings);
    return findings;
  }
  if (check_files(subject, findings)) {
    const Sections sections = check_links(subject, findings);
    off = sections.off;
    if (!off) check_module(subject, sections, findings);
    check_activation(subject, sections, findings);
    if (!off) check_properties(subject, sections, findings);
    check_neighbours(subject, sections, findings);
    if (!off) check_settings(subject, sections, findings);
  }
  check_kernel(machine, findings);
  if (endless) return findings;
  check_trial(subject, off, findings);
  rehearse(subject, findings);
  return findings;
}

int print_findings(const doctor::Findings& findings, bool json, std::ostream& out) {
  if (json) {
    print_json(findings, out);
  } else {
    print_text(findings, out);
  }
  return std::any_of(findings.begin(), findings.end(), is_to_mend) ? exit_cannot : exit_done;
}

int run_doctor(const DoctorOptions& options, const Machine& machine, std::ostream& out) {
  const std::string path = options.config ? *options.config : default_config_path();
  return print_findings(examine(path, machine), options.json, out);
}

}  // namespace kaccel::calibrate
