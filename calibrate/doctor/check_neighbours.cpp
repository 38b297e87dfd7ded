#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {
namespace {

using Names = std::vector<std::string_view>;

// config(5).
const Names main_keys{"providers", "alg_section", "random",      "ssl_conf",
                      "engines",   "oid_section", "stbl_section"};
const Names algorithm_keys{"default_properties", "fips_mode"};
const Names random_keys{"random", "cipher", "digest", "properties", "seed", "seed_properties"};
// Those that OpenSSL and its programs look for before the first section.
const Names default_keys{"openssl_conf", "config_diagnostics", "oid_section", "oid_file",
                         "HOME",         "RANDFILE",           "openssl_init"};

bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// OpenSSL lets a name have an ending, ".1", to keep several apart.
std::string_view without_ending(std::string_view key) {
  return key.substr(0, key.find('.'));
}

void check(const Subject& subject, const std::string& section, const Names& known,
           Findings& findings) {
  std::vector<const ConfigurationLine*> unknown;
  Mend mend{{}, {}, subject.path, {}};
  for (const auto& line : subject.lines.keys) {
    if (line.section != section || contains(known, without_ending(line.key))) continue;
    unknown.push_back(&line);
    // What stands in the wrong place is moved.
    if (contains(default_keys, line.key) && !subject.conf.value("default", line.key.c_str())) {
      if (mend.lines.empty()) mend.lines.emplace_back("[default]");
      mend.lines.push_back(fmt::format("{} = {}", line.key, line.value));
    }
  }
  if (unknown.empty()) return;
  mend.commands = comment_out(unknown);
  Names keys;
  for (const auto* line : unknown) keys.push_back(line->key);
  findings.push_back({State::problem, "keys",
                      fmt::format("[{}] has {}: OpenSSL knows {} there", printable(section),
                                  printable(fmt::format("{}", fmt::join(keys, ", ")), 200),
                                  fmt::join(known, ", ")),
                      describe(*unknown.front()), refusal(subject), std::move(mend)});
}

}  // namespace

// In the main section a key may also name a module of its own; so only where OpenSSL refuses.
void check_neighbours(const Subject& subject, const Sections& sections, Findings& findings) {
  if (subject.trial.refused.empty()) return;
  check(subject, sections.main, main_keys, findings);
  const auto check_linked = [&](const char* link, const Names& known) {
    if (const auto named = subject.conf.value(sections.main, link)) {
      check(subject, *named, known, findings);
    }
  };
  check_linked("alg_section", algorithm_keys);
  check_linked("random", random_keys);
}

}  // namespace kaccel::calibrate::doctor
