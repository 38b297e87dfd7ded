#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {
namespace {

constexpr unsigned long minds_the_value = 0x30200000;  // OpenSSL 3.2

std::vector<std::string> lines_of(const std::string& section, const std::string& line) {
  return {fmt::format("[{}]", section), line};
}

void check_kaccel(const Subject& subject, const Sections& sections, Findings& findings) {
  const char* const check = "activate";
  // A section that doctor proposes has the line.
  if (!subject.conf.has_section(sections.kaccel)) return;
  const auto value = subject.conf.value(sections.kaccel, "activate");
  const auto here = activation(value, OpenSSL_version_num());
  if (here == Activation::active && activation(value, minds_the_value) == Activation::active) {
    findings.push_back(ok(check, "kaccel is activated"));
    return;
  }
  Finding finding{State::warning,
                  check,
                  {},
                  place(subject, sections.kaccel, "activate"),
                  {},
                  {{}, lines_of(sections.kaccel, "activate = 1"), subject.path, {}}};
  const std::string shown = printable(value.value_or(""));
  if (!value) {
    finding.state = State::problem;
    finding.what = fmt::format("[{}] has no line activate =", printable(sections.kaccel));
    finding.means = "kaccel is not loaded";
  } else if (here == Activation::active) {
    finding.what = fmt::format(
        "activate = {} activates kaccel all the same: before 3.2, OpenSSL (this is {}) does not "
        "look at the value",
        shown, OpenSSL_version(OPENSSL_VERSION_STRING));
    finding.means = "kaccel is in use; a newer OpenSSL would do without it";
  } else {
    finding.state = State::problem;
    finding.what = fmt::format("activate = {}", shown);
    finding.means = here == Activation::refused ? refusal(subject) : "kaccel is not loaded";
  }
  if (const auto* line = subject.lines.find(sections.kaccel, "activate")) {
    const auto off = comment_out({line});
    finding.mend.remark = fmt::format("if it is to be off: {}", off.front().text);
  }
  findings.push_back(std::move(finding));
}

bool is_activated(const Subject& subject, const std::string& section) {
  return activation(subject.conf.value(section, "activate"), OpenSSL_version_num()) ==
         Activation::active;
}

bool says_no(const Subject& subject, const Sections& sections) {
  const auto value = subject.conf.value(sections.kaccel, "load_default");
  constexpr std::array no{"no", "false", "off", "0"};
  return value && std::find(no.begin(), no.end(), *value) != no.end();
}

std::vector<std::string> activate_default(const Subject& subject, const Sections& sections) {
  const auto named = subject.conf.value(sections.providers, "default");
  const std::string section = named.value_or("default_sect");
  std::vector<std::string> lines;
  if (!named) lines = lines_of(sections.providers, "default = " + section);
  for (auto& line : lines_of(section, "activate = 1")) lines.push_back(std::move(line));
  return lines;
}

void check_default(const Subject& subject, const Sections& sections, Findings& findings) {
  const char* const check = "default provider";
  const auto named = subject.conf.value(sections.providers, "default");
  if (named && is_activated(subject, *named)) {
    findings.push_back(ok(check, "it is activated"));
    return;
  }
  const std::string where = place(subject, sections.providers, "default");
  Mend mend{{}, activate_default(subject, sections), subject.path, {}};
  if (named && !subject.conf.has_section(*named)) {
    findings.push_back(
        {State::problem, check,
         fmt::format("default = {} names a section that is not there", printable(*named)), where,
         refusal(subject), std::move(mend)});
    return;
  }
  if (sections.off) {
    if (subject.trial.missing().empty()) {
      findings.push_back(ok(check, "other providers have what programs need"));
    } else {
      findings.push_back({State::problem, check, "nobody activates it", where,
                          "programs have no digests, no random numbers and no TLS",
                          std::move(mend)});
    }
    return;
  }
  if (!says_no(subject, sections)) {
    findings.push_back(
        {State::warning, check, "kaccel brings it along, nobody else activates it", where,
         "all is well while kaccel.so loads; the day it does not, programs have no digests, no "
         "random numbers and no TLS",
         std::move(mend)});
    return;
  }
  const auto& answers = subject.trial.answers;
  const bool others = !answers.empty() && subject.trial.missing().empty();
  if (others) {
    findings.push_back(
        ok(check, "left out by load_default = no; other providers have what programs need"));
    return;
  }
  findings.push_back({State::problem,
                      check,
                      "load_default = no, and no other provider has digests and random numbers",
                      place(subject, sections.kaccel, "load_default"),
                      "programs have no digests, no random numbers and no TLS",
                      {{},
                       lines_of(sections.kaccel, "load_default = yes"),
                       subject.path,
                       "or activate fips beside base; base alone has neither"}});
}

// One that is misspelt takes all that come after it along.
void check_others(const Subject& subject, const Sections& sections, Findings& findings) {
  for (const auto& line : subject.lines.keys) {
    if (line.section != sections.providers || line.key == "kaccel" || line.key == "default" ||
        subject.conf.has_section(line.value)) {
      continue;
    }
    findings.push_back({State::problem,
                        "other providers",
                        fmt::format("{} = {} names a section that is not there",
                                    printable(line.key), printable(line.value)),
                        describe(line),
                        refusal(subject),
                        {comment_out({&line})}});
  }
}

}  // namespace

Activation activation(const std::optional<std::string>& value, unsigned long openssl_version) {
  if (!value) return Activation::inactive;
  if (openssl_version < minds_the_value) return Activation::active;
  constexpr std::array on{"1", "yes", "YES", "true", "TRUE", "on", "ON"};
  constexpr std::array off{"0", "no", "NO", "false", "FALSE", "off", "OFF"};
  if (std::find(on.begin(), on.end(), *value) != on.end()) return Activation::active;
  return std::find(off.begin(), off.end(), *value) != off.end() ? Activation::inactive
                                                                : Activation::refused;
}

void check_activation(const Subject& subject, const Sections& sections, Findings& findings) {
  if (!sections.off) check_kaccel(subject, sections, findings);
  check_default(subject, sections, findings);
  check_others(subject, sections, findings);
}

}  // namespace kaccel::calibrate::doctor
