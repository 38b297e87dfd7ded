#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {
namespace {

// The clauses of a property query, without blanks (property(7)).
std::vector<std::string> clauses(const std::string& query) {
  std::vector<std::string> result(1);
  for (const char c : query) {
    if (c == ',') {
      result.emplace_back();
    } else if (c != ' ' && c != '\t') {
      result.back() += c;
    }
  }
  std::erase(result, "");
  return result;
}

std::string join(const std::vector<std::string>& clauses) {
  return fmt::format("{}", fmt::join(clauses, ","));
}

constexpr const char* forced = "provider=kaccel";
constexpr const char* preferred = "?provider=kaccel";

bool contains(const std::vector<std::string>& clauses, const char* clause) {
  return std::find(clauses.begin(), clauses.end(), clause) != clauses.end();
}

// The section that `link` of the main section names, and the lines that make the link where it is
// missing.
struct Target {
  std::string section;
  std::vector<std::string> lines;
};
Target target(const Subject& subject, const Sections& sections, const char* link,
              const char* usual) {
  const auto named = subject.conf.value(sections.main, link);
  if (named) return {*named, {}};
  std::string section = usual;
  while (subject.conf.has_section(section)) section += "_kaccel";
  return {section, {fmt::format("[{}]", sections.main), fmt::format("{} = {}", link, section)}};
}

Mend mend(const Subject& subject, const Target& target, const std::string& line) {
  Mend result{{}, target.lines, subject.path, {}};
  result.lines.push_back(fmt::format("[{}]", target.section));
  result.lines.push_back(line);
  return result;
}

void check_default_properties(const Subject& subject, const Sections& sections,
                              Findings& findings) {
  const char* const check = "default_properties";
  const auto where = target(subject, sections, "alg_section", "algorithm_sect");
  const auto value = subject.conf.value(where.section, check);
  auto parts = clauses(value.value_or(""));
  const std::string at = place(subject, where.section, check);
  if (contains(parts, forced)) {
    std::replace(parts.begin(), parts.end(), std::string(forced), std::string(preferred));
    findings.push_back(
        {State::problem, check,
         fmt::format("default_properties = {}: the question mark before provider=kaccel is missing",
                     printable(*value)),
         at,
         "they find nothing but kaccel's algorithms: no digests, no random numbers, no keys, no "
         "TLS",
         mend(subject, where, "default_properties = " + join(parts))});
  } else if (!contains(parts, preferred)) {
    parts.emplace_back(preferred);
    findings.push_back(
        {State::warning, check,
         value ? fmt::format("default_properties = {} does not prefer kaccel", printable(*value))
               : "nothing prefers kaccel",
         at, "beside the default provider kaccel is chosen by programs that name it only",
         mend(subject, where, "default_properties = " + join(parts))});
  } else {
    findings.push_back(ok(check, printable(*value)));
  }
}

void check_random(const Subject& subject, const Sections& sections, Findings& findings) {
  const char* const check = "random numbers";
  const auto where = target(subject, sections, "random", "random_sect");
  const auto value = subject.conf.value(where.section, "properties");
  const auto& answers = subject.trial.answers;
  const auto answer = answers.find(trial_random);
  const bool fails = answer != answers.end() && answer->second.empty();
  const auto parts = clauses(value.value_or(""));
  const std::string at = place(subject, where.section, "properties");
  if (contains(parts, forced)) {
    findings.push_back({State::problem, check,
                        "properties = provider=kaccel, which has no random number generator", at,
                        "they have no random numbers",
                        mend(subject, where, "properties = provider=default")});
  } else if (fails && value && answers.at("SHA-256") != "" && !subject.trial.has("default")) {
    findings.push_back(
        {State::problem, check,
         fmt::format("properties = {}, and no provider there is has such a generator",
                     printable(*value)),
         at, "they have no random numbers",
         mend(subject, where, "properties = ?provider=default")});
  } else if (!value && !subject.conf.has_section(where.section) && where.lines.empty()) {
    findings.push_back(
        {State::problem, check,
         fmt::format("random = {} names a section that is not there", printable(where.section)),
         place(subject, sections.main, "random"), refusal(subject),
         mend(subject, where, "properties = provider=default")});
  } else if (!value) {
    findings.push_back(ok(check, "kaccel tells OpenSSL to keep the generator to software"));
  } else if (!fails) {
    findings.push_back(ok(check, printable(*value)));
  }
}

}  // namespace

void check_properties(const Subject& subject, const Sections& sections, Findings& findings) {
  check_default_properties(subject, sections, findings);
  check_random(subject, sections, findings);
}

}  // namespace kaccel::calibrate::doctor
