#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/similar_names.hpp"
#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {
namespace {

constexpr const char* check = "sections";

class Links {
 public:
  explicit Links(const Subject& subject) : subject_(subject) {}

  Sections follow() {
    Sections sections;
    sections.main = step("default", "openssl_conf", "openssl_init",
                         [&](const std::string& name) { return has(name, "providers"); });
    sections.providers = step(sections.main, "providers", "provider_sect",
                              [&](const std::string& name) { return holds_only_providers(name); });
    if (faults_.empty() && !has(sections.providers, "kaccel")) {
      off_ = switched_off(sections.providers);
      sections.off = off_ != nullptr;
      if (sections.off) return sections;
    }
    sections.kaccel = step(
        sections.providers, "kaccel", "kaccel_sect",
        [&](const std::string& name) { return has(name, "activate") || has(name, "thresholds"); });
    if (made_kaccel_) fill(sections.kaccel);
    return sections;
  }

  void tell(const Sections& sections, Findings& findings) {
    if (off_ != nullptr) {
      findings.push_back({State::warning,
                          check,
                          "kaccel is switched off: its line is commented out",
                          describe(*off_),
                          "programs run without it",
                          {{}, {}, {}, "to have kaccel, take the # before that line away"}});
      return;
    }
    if (faults_.empty()) {
      findings.push_back(
          ok(check, fmt::format("openssl_conf -> [{}] -> [{}] -> [{}]", printable(sections.main),
                                printable(sections.providers), printable(sections.kaccel))));
      return;
    }
    std::string what;
    for (const auto& fault : faults_) what += (what.empty() ? "" : "; ") + fault;
    findings.push_back({State::problem,
                        check,
                        what,
                        where_,
                        "OpenSSL does not find kaccel: programs run without it",
                        {comment_out(strays_), std::move(lines_), subject_.path, {}}});
  }

 private:
  bool has(const std::string& section, const char* key) const {
    return subject_.conf.value(section, key).has_value();
  }

  // A section that brings what kaccel needs, and no key that OpenSSL would take for a provider's
  // name by mistake.
  bool holds_only_providers(const std::string& section) const {
    constexpr std::array usual{"kaccel", "default", "base", "fips", "legacy", "null"};
    bool any = false;
    for (const auto& line : subject_.lines.keys) {
      if (line.section != section) continue;
      any = true;
      const bool known = std::find(usual.begin(), usual.end(), line.key) != usual.end();
      if (!known && !has(line.value, "activate")) return false;
    }
    return any;
  }

  const ConfigurationLine* switched_off(const std::string& providers) const {
    const auto& all = subject_.lines.switched_off;
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const ConfigurationLine& line) {
      return line.section == providers && subject_.conf.has_section(line.value);
    });
    return found != all.rend() ? &*found : nullptr;
  }

  // The section that was meant by one of the names: one with a similar name that looks right.
  template <class LooksRight>
  const std::string* meant(const std::string& named, const char* usual,
                           const LooksRight& looks_right) const {
    const std::string* best = nullptr;
    std::size_t least = std::string::npos;
    for (const auto& name : subject_.lines.sections) {
      if (name == "default") continue;
      for (const std::string& wanted : {named, std::string(usual)}) {
        if (!is_similar(name, wanted) || distance(name, wanted) >= least) continue;
        if (!looks_right(name)) break;
        least = distance(name, wanted);
        best = &name;
      }
    }
    return best;
  }

  // A section of kaccel's that is made anew: with the thresholds, if the file has them.
  void fill(const std::string& section) {
    add(section, "activate = 1");
    if (const auto* measured = section_of_thresholds(subject_.lines)) {
      add(section, "thresholds = " + *measured);
    }
  }

  // Where `key` of `section` leads. What is wrong there is noted, and the lines that mend it: a
  // section that looks like the one that was meant, or a new one.
  template <class LooksRight>
  std::string step(const std::string& section, const char* key, const char* usual,
                   const LooksRight& looks_right) {
    const auto named = subject_.conf.value(section, key);
    if (named && subject_.conf.has_section(*named)) return *named;
    std::string target = named && !named->empty() ? *named : std::string(usual);
    const auto* other = meant(target, usual, looks_right);
    const bool is_new = other == nullptr;
    if (!is_new) {
      target = *other;
    } else if (!named) {
      while (subject_.conf.has_section(target)) target += "_kaccel";
    }
    made_kaccel_ = made_kaccel_ || (is_new && std::string_view(key) == "kaccel");
    note(section, key, named);
    add(section, fmt::format("{} = {}", key, target));
    return target;
  }

  void note(const std::string& section, const char* key, const std::optional<std::string>& named) {
    if (where_.empty()) where_ = place(subject_, section, key);
    if (named) {
      faults_.push_back(
          fmt::format("{} = {} names a section that is not there", key, printable(*named)));
      return;
    }
    const bool first = std::string_view(key) == "openssl_conf";
    // An included file ends in a section of its own, so that what follows its line belongs there.
    const ConfigurationLine* stray = nullptr;
    for (const auto& line : subject_.lines.keys) {
      if (first && line.key == key && line.section != "default") stray = &line;
    }
    if (stray != nullptr) {
      strays_.push_back(stray);
      where_ = describe(*stray);
      faults_.push_back(
          fmt::format("openssl_conf stands in section [{}]; it must stand before the first section "
                      "and before .include",
                      printable(stray->section)));
      return;
    }
    faults_.push_back(first ? "no openssl_conf line before the first section"
                            : fmt::format("[{}] has no line {} =", printable(section), key));
  }

  void add(const std::string& section, std::string line) {
    const std::string header = fmt::format("[{}]", section);
    if (header != last_header_) lines_.push_back(header);
    last_header_ = header;
    lines_.push_back(std::move(line));
  }

  const Subject& subject_;
  std::vector<std::string> faults_;
  std::vector<std::string> lines_;
  std::vector<const ConfigurationLine*> strays_;
  std::string last_header_;
  std::string where_;
  const ConfigurationLine* off_ = nullptr;
  bool made_kaccel_ = false;
};

}  // namespace

Sections check_links(const Subject& subject, Findings& findings) {
  Links links(subject);
  const Sections sections = links.follow();
  links.tell(sections, findings);
  return sections;
}

}  // namespace kaccel::calibrate::doctor
