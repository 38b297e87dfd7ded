#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/similar_names.hpp"
#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {
namespace {

// The clauses of a property query, without blanks and in small letters, as OpenSSL compares them
// (property(7)).
std::vector<std::string> clauses(const std::string& query) {
  std::vector<std::string> result(1);
  for (const char c : query) {
    if (c == ',') {
      result.emplace_back();
    } else if (c != ' ' && c != '\t') {
      result.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  std::erase(result, "");
  return result;
}

std::string join(const std::vector<std::string>& clauses) {
  return fmt::format("{}", fmt::join(clauses, ","));
}

constexpr std::string_view forced = "provider=kaccel";
constexpr std::string_view preferred = "?provider=kaccel";

bool contains(const std::vector<std::string>& clauses, std::string_view clause) {
  return std::find(clauses.begin(), clauses.end(), clause) != clauses.end();
}

struct FreeLibctx {
  void operator()(OSSL_LIB_CTX* libctx) const noexcept { OSSL_LIB_CTX_free(libctx); }
};

bool openssl_understands(const std::string& query) {
  const std::unique_ptr<OSSL_LIB_CTX, FreeLibctx> libctx(OSSL_LIB_CTX_new());
  const bool good = libctx && EVP_set_default_properties(libctx.get(), query.c_str()) == 1;
  ERR_clear_error();
  return good;
}

// Whether the clause wants or prefers a provider that no program gets and that the configuration
// does not name either.
bool names_nobody(const std::string& clause, const Subject& subject, const Sections& sections) {
  const std::string_view wanted = std::string_view(clause).substr(clause.starts_with('?') ? 1 : 0);
  constexpr std::string_view key = "provider=";
  if (!wanted.starts_with(key) || wanted == forced) return false;
  const auto is_it = [&](const std::string& name) {
    return distance(name, wanted.substr(key.size())) == 0;
  };
  const auto& active = subject.trial.providers;
  const auto& lines = subject.lines.keys;
  return std::none_of(active.begin(), active.end(), is_it) &&
         std::none_of(lines.begin(), lines.end(), [&](const ConfigurationLine& line) {
           return line.section == sections.providers && is_it(line.key);
         });
}

// The section that `link` of the main section names, and the lines that make the link where it is
// missing.
struct Target {
  std::string section;
  std::vector<std::string> lines;
};
std::vector<std::string> link_lines(const Sections& sections, const char* link,
                                    const std::string& section) {
  return {fmt::format("[{}]", sections.main), fmt::format("{} = {}", link, section)};
}

// `key`: what is looked for there.
Target target(const Subject& subject, const Sections& sections, const char* link, const char* usual,
              const char* key) {
  const auto named = subject.conf.value(sections.main, link);
  if (named) return {*named, {}};
  std::string section = usual;
  if (subject.conf.value(section, key)) return {section, link_lines(sections, link, section)};
  while (subject.conf.has_section(section)) section += "_kaccel";
  return {section, link_lines(sections, link, section)};
}

Mend mend(const Subject& subject, const Target& target, const std::string& line) {
  Mend result{{}, target.lines, subject.path, {}};
  result.lines.push_back(fmt::format("[{}]", target.section));
  result.lines.push_back(line);
  return result;
}

// The provider that programs get the trial's cipher from where kaccel is there and it is not that;
// "" otherwise.
std::string taken_from(const Subject& subject) {
  const auto answer = subject.trial.answers.find(trial_cipher);
  if (!subject.trial.has("kaccel") || answer == subject.trial.answers.end()) return {};
  return answer->second == "kaccel" ? std::string() : answer->second;
}

// Maybe meant so, by those who must have fips=yes: nothing to mend.
Finding left_out(const std::string& properties, const std::string& at, const std::string& other) {
  return {State::warning,
          "default_properties",
          fmt::format("default_properties = {} leaves kaccel out, though it names it",
                      printable(properties)),
          at,
          fmt::format("{} comes from {}: nothing goes to hardware", trial_cipher, printable(other)),
          {{}, {}, {}, "of the other clauses some fit that provider and not kaccel"}};
}

void check_default_properties(const Subject& subject, const Sections& sections,
                              Findings& findings) {
  const char* const check = "default_properties";
  const auto where = target(subject, sections, "alg_section", "algorithm_sect", check);
  const auto value = subject.conf.value(where.section, check);
  auto parts = clauses(value.value_or(""));
  const std::string at = place(subject, where.section, check);
  const bool linked = where.lines.empty();
  const bool understood = openssl_understands(value.value_or(""));
  if (understood && contains(parts, forced)) {
    std::replace(parts.begin(), parts.end(), std::string(forced), std::string(preferred));
    findings.push_back(
        {linked ? State::problem : State::warning, check,
         fmt::format("default_properties = {}: the question mark before provider=kaccel is missing",
                     printable(*value)),
         at,
         linked ? "they find nothing but kaccel's algorithms: no digests, no random numbers, no "
                  "keys, no TLS"
                : "nothing points to the section",
         mend(subject, where, "default_properties = " + join(parts))});
    return;
  }
  if (understood && linked && contains(parts, preferred)) {
    const std::string other = taken_from(subject);
    findings.push_back(other.empty() ? ok(check, printable(*value)) : left_out(*value, at, other));
    return;
  }
  const auto nobodys = [&](const std::string& clause) {
    return names_nobody(clause, subject, sections);
  };
  const bool locks_out = std::any_of(parts.begin(), parts.end(), [&](const std::string& clause) {
    return !clause.starts_with('?') && nobodys(clause);
  });
  if (!understood) parts.clear();
  std::erase_if(parts, nobodys);
  if (!contains(parts, preferred)) parts.emplace_back(preferred);
  Finding finding{State::warning,
                  check,
                  "nothing prefers kaccel",
                  at,
                  "beside the default provider kaccel is chosen by programs that name it only",
                  mend(subject, where, "default_properties = " + join(parts))};
  if (linked && value) {
    finding.what = fmt::format("default_properties = {} does not prefer kaccel", printable(*value));
  }
  if (linked && !understood) {
    finding.state = State::problem;
    finding.what = fmt::format("default_properties = {}: OpenSSL cannot read it as properties",
                               printable(*value));
    finding.means = refusal(subject);
  } else if (linked && locks_out) {
    finding.state = State::problem;
    finding.what += ", and wants a provider that is not there";
    finding.means = "they find nothing at all";
  }
  findings.push_back(std::move(finding));
}

void check_random(const Subject& subject, const Sections& sections, Findings& findings) {
  const char* const check = "random numbers";
  const auto where = target(subject, sections, "random", "random_sect", "properties");
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
