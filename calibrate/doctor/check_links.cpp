#include <fmt/format.h>

#include <algorithm>

#include "calibrate/command_error.hpp"
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
    sections.providers =
        step(sections.main, "providers", "provider_sect", [&](const std::string& name) {
          return has(name, "kaccel") || (has(name, "default") && !has(name, "openssl_conf"));
        });
    sections.kaccel =
        step(sections.providers, "kaccel", "kaccel_sect", [&](const std::string& name) {
          return name.find("kaccel") != std::string::npos && has(name, "activate");
        });
    if (made_kaccel_) add(sections.kaccel, "activate = 1");
    return sections;
  }

  void tell(const Sections& sections, Findings& findings) {
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

  // Where `key` of `section` leads. What is wrong there is noted, and the lines that mend it: a
  // section that looks like the one that was meant, or a new one.
  template <class LooksRight>
  std::string step(const std::string& section, const char* key, const char* usual,
                   const LooksRight& looks_right) {
    const auto named = subject_.conf.value(section, key);
    if (named && subject_.conf.has_section(*named)) return *named;
    std::string target = named && !named->empty() ? *named : std::string(usual);
    const auto& all = subject_.lines.sections;
    const auto meant = std::find_if(all.begin(), all.end(), [&](const std::string& name) {
      return name != "default" && looks_right(name);
    });
    const bool is_new = meant == all.end();
    if (!is_new) {
      target = *meant;
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
