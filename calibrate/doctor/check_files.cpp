#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "calibrate/command_error.hpp"
#include "calibrate/doctor/broken_line.hpp"
#include "calibrate/doctor/permissions.hpp"
#include "calibrate/doctor/similar_names.hpp"
#include "calibrate/doctor/subject.hpp"
#include "calibrate/thresholds_place.hpp"
#include "provider/config_file.hpp"
#include "provider/special_files.hpp"

namespace kaccel::calibrate::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* silent =
    "OpenSSL passes over it without a word: what it should bring is missing";

std::string shown(const std::string& path) {
  return printable(path, 200);
}

std::string at(const Include& include) {
  return fmt::format("{}, line {}, .include", shown(include.file), include.number);
}

Mend without(const Include& include) {
  const ConfigurationLine line{include.file, include.number, {}, {}, {}};
  return {comment_out({&line})};
}

// A file of thresholds can be written anew where there is something to measure.
Mend anew(const Subject& subject, const Include& include, std::vector<Command> first = {}) {
  if (!has_usable_hardware(subject.machine)) return without(include);
  first.emplace_back(calibrate_command(subject));
  return {std::move(first), {}, {}, "or take the line with .include out"};
}

bool is_fifo(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

const char* meaning(const std::string& special) {
  return is_fifo(special)
             ? "OpenSSL waits until somebody writes into it: every program that loads this "
               "configuration hangs, or takes what was meant for another one"
             : "OpenSSL reads whatever the device gives: every program that loads this "
               "configuration hangs, or gets nothing of what the file should bring";
}

void tell_special(const Subject& subject, const Include& include, const std::string& special,
                  Findings& findings) {
  const Command away = fmt::format("mv {0} {1}", shell_word(special), shell_word(special + ".old"));
  Finding finding{State::problem, "included file",
                  fmt::format("{} is {} and no file", shown(special), special_kind(special)),
                  at(include), meaning(special)};
  if (special != include.path) {
    finding.mend.commands = {away};  // of a directory's files
  } else if (is_fifo(special) && include.path == thresholds_path(subject)) {
    finding.mend = anew(subject, include, {away});
  } else {
    finding.mend = without(include);
  }
  if (finding.mend.remark.empty()) finding.mend.remark = "or put a file into its place";
  findings.push_back(std::move(finding));
}

// Nothing more can be said of a configuration that nobody comes to the end of.
bool tell_endless(const Subject& subject, Findings& findings) {
  if (const char* kind = special_kind(subject.path)) {
    findings.push_back(
        {State::problem,
         "configuration file",
         fmt::format("{} is {} and no file", shown(subject.path), kind),
         shown(subject.path),
         meaning(subject.path),
         {{}, {}, {}, "write the text into a file and name that: OPENSSL_CONF, or --config"}});
    return true;
  }
  for (const auto& include : subject.lines.includes) {
    for (const auto& special : include.specials) tell_special(subject, include, special, findings);
    if (!include.circular) continue;
    findings.push_back({State::problem, "included file",
                        shown(include.path) + " is included within itself", at(include),
                        "OpenSSL reads it again and again, until the process may open no more "
                        "files: programs start slowly or never",
                        without(include)});
  }
  return is_endless(subject.path, subject.lines);
}

void check_include(const Subject& subject, const Include& include, Findings& findings) {
  const std::string check = "included file";
  struct stat status {};
  if (stat(include.path.c_str(), &status) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      if (const auto meant = file_that_was_meant(subject, include)) {
        const ConfigurationLine line{include.file, include.number, {}, {}, {}};
        findings.push_back(
            {State::warning,
             check,
             fmt::format("{} is not there, but {} is", shown(include.path), shown(*meant)),
             at(include),
             silent,
             {comment_out({&line}), {".include " + *meant}, subject.path, {}}});
        return;
      }
      findings.push_back({State::warning, check, shown(include.path) + " is not there", at(include),
                          silent, anew(subject, include)});
      return;
    }
    const auto closed = closed_to_this_user(include.path);
    findings.push_back(
        {State::problem, check,
         fmt::format("{} cannot be read: {}", shown(include.path), std::strerror(error)),
         at(include), "kaccel stays in software",
         closed ? Mend{{opening(*closed)}} : without(include)});
    return;
  }
  if (S_ISDIR(status.st_mode)) {
    const bool brings =
        std::any_of(subject.lines.files.begin(), subject.lines.files.end(),
                    [&](const std::string& file) { return file.starts_with(include.path + "/"); });
    if (brings) return;
    findings.push_back({State::warning, check,
                        shown(include.path) + " is a directory without files named *.cnf or *.conf",
                        at(include), silent,
                        anew(subject, include,
                             {fmt::format("mv {0} {1}", shell_word(include.path),
                                          shell_word(include.path + ".old"))})});
    return;
  }
  if (access(include.path.c_str(), R_OK) != 0) {
    findings.push_back(
        {State::problem,
         check,
         fmt::format("{} cannot be read: {}", shown(include.path), std::strerror(errno)),
         at(include),
         "kaccel stays in software in such a process",
         {{"chmod a+r " + shell_word(include.path)}}});
  }
}

// Root writes these files and all programs read them. A configuration that is private as a whole is
// somebody's own affair; includes that are more private than the file that includes them are not.
void check_permissions(const Subject& subject, Findings& findings) {
  const bool shared = is_shared(subject);
  const auto own = closed_to_others(subject.path);
  std::map<std::string, const char*> closed;
  if (shared) {
    for (const auto& each : own) closed.emplace(each.path, each.mode);
  }
  for (std::size_t i = 1; i < subject.lines.files.size() && (shared || own.empty()); ++i) {
    for (const auto& each : closed_to_others(subject.lines.files[i])) {
      closed.emplace(each.path, each.mode);
    }
  }
  if (closed.empty()) {
    findings.push_back(ok("permissions", "every user's programs can read the configuration"));
    return;
  }
  std::vector<Command> commands;
  std::string paths;
  for (const auto& [path, mode] : closed) {
    commands.push_back(opening({path, mode}));
    paths += (paths.empty() ? "" : ", ") + shown(path);
  }
  findings.push_back({State::problem,
                      "permissions",
                      "not every user's programs can read " + paths,
                      paths,
                      "they stay in software, or do without the whole configuration",
                      {std::move(commands)}});
}

// Files with thresholds.
std::set<std::string> files_that_measure(const ConfigurationLines& lines) {
  std::set<std::string> files;
  if (const auto* measured = section_of_thresholds(lines)) {
    for (const auto& line : lines.keys) {
      if (line.section == *measured) files.insert(line.file);
    }
  }
  return files;
}

// An included file ends the section that its line stands in, and what follows that line belongs to
// the included file's last section.
bool tell_swallowed(const Subject& subject, Findings& findings) {
  const auto measuring = files_that_measure(subject.lines);
  bool any = false;
  for (const auto& include : subject.lines.includes) {
    const auto& lines = include.swallowed;
    const bool of_kaccel =
        include.path.find("kaccel") != std::string::npos || measuring.contains(include.path);
    if (lines.empty() || !of_kaccel) continue;
    any = true;
    const std::string numbers =
        lines.size() == 1
            ? fmt::format("line {} is", lines.front().number)
            : fmt::format("lines {} to {} are", lines.front().number, lines.back().number);
    const ConfigurationLine line{include.file, include.number, {}, {}, {}};
    findings.push_back(
        {State::problem,
         "included file",
         fmt::format("{} ends in section [{}]: {} read as part of it ({} = {}{})",
                     shown(include.path), printable(include.ends_in), numbers,
                     printable(lines.front().key), printable(lines.front().value),
                     lines.size() == 1 ? "" : ", ..."),
         at(include),
         "OpenSSL finds these lines in a section where nobody looks for them; kaccel stays in "
         "software or is not loaded",
         {comment_out({&line}),
          {".include " + include.path},
          subject.path,
          "that is, .include as the file's last line"}});
  }
  return any;
}

// Whether the line has the opening bracket of a section's header.
bool begins_a_section(const ConfigurationLine& line) {
  std::ifstream in(line.file, std::ios::binary);
  std::string text;
  for (std::size_t i = 0; i < line.number; ++i) std::getline(in, text);
  const auto first = text.find_first_not_of(" \t");
  return first != std::string::npos && text[first] == '[';
}

void tell_broken(const Subject& subject, Findings& findings) {
  const auto [file, broken] = find_broken_line(subject.path, *subject.conf.broken(), subject.lines);
  Finding finding{
      State::problem, "syntax",
      fmt::format("OpenSSL cannot read {}: {}", shown(file), broken.reason),
      fmt::format("{}, line {}", shown(file), broken.line),
      "OpenSSL drops the whole configuration, without a word to most programs: they run "
      "without kaccel and without whatever else it says"};
  const ConfigurationLine line{file, static_cast<std::size_t>(broken.line), {}, {}, {}};
  if (broken.line > 0) {
    finding.mend.commands =
        begins_a_section(line)
            ? std::vector<Command>{fmt::format("sed -i '{}s/[[:space:]]*$/]/' {}", line.number,
                                               shell_word(file))}
            : comment_out({&line});
  }
  finding.mend.remark =
      "or write the line right; a file of thresholds: " + calibrate_command(subject) +
      " writes it anew";
  findings.push_back(std::move(finding));
}

// Editors of other systems save so; OpenSSL finds no key in it.
bool tell_utf16(const std::string& file, Findings& findings) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 2> head{};
  in.read(head.data(), head.size());
  const std::string_view mark(head.data(), head.size());
  if (mark != "\xff\xfe" && mark != "\xfe\xff") return false;
  const std::string path = shell_word(file);
  const std::string other = shell_word(file + ".utf8");
  findings.push_back({State::problem,
                      "configuration file",
                      shown(file) + " is written in UTF-16",
                      shown(file) + ", line 1",
                      "OpenSSL finds nothing in it: programs run without kaccel",
                      {{fmt::format("iconv -f UTF-16 -t UTF-8 {0} > {1} && cat {1} > {0} && rm {1}",
                                    path, other)}}});
  return true;
}

}  // namespace

std::optional<std::string> file_that_was_meant(const Subject& subject, const Include& include) {
  std::error_code error;
  if (fs::exists(include.path, error)) return std::nullopt;
  const fs::path named = include.path;
  const auto is_included = [&](const std::string& path) {
    const auto& files = subject.lines.files;
    return std::find(files.begin(), files.end(), path) != files.end();
  };
  const auto fits = [&](const fs::path& path) {
    return is_similar(path.filename().string(), named.filename().string()) &&
           fs::is_regular_file(path, error) && !is_included(path.string());
  };
  const fs::path beside = thresholds_path_beside(subject.path);
  if (fits(beside)) return beside.string();
  for (const auto& entry : fs::directory_iterator(named.parent_path(), error)) {
    if (fits(entry.path())) return entry.path().string();
  }
  return std::nullopt;
}

bool is_endless(const std::string& path, const ConfigurationLines& lines) {
  return special_kind(path) != nullptr ||
         std::any_of(lines.includes.begin(), lines.includes.end(), [](const Include& include) {
           return include.circular || !include.specials.empty();
         });
}

bool check_files(const Subject& subject, Findings& findings) {
  const std::string check = "configuration file";
  std::error_code error;
  if (const auto closed = closed_to_this_user(subject.path)) {
    findings.push_back({State::problem,
                        check,
                        fmt::format("{} cannot be read: {}: {}", shown(subject.path),
                                    shown(closed->path), std::strerror(EACCES)),
                        shown(closed->path),
                        "this user's programs run without kaccel",
                        {{opening(*closed)}}});
    return false;
  }
  if (!fs::exists(subject.path, error)) {
    findings.push_back(
        {State::problem, check,
         subject.path.empty() ? "OpenSSL names none" : shown(subject.path) + " is not there",
         shown(subject.path), "programs run without kaccel"});
    return !subject.path.empty();
  }
  if (fs::is_directory(subject.path, error)) {
    findings.push_back({State::problem,
                        check,
                        shown(subject.path) + " is a directory",
                        shown(subject.path),
                        "programs run without kaccel",
                        {{}, {}, {}, "name a file: OPENSSL_CONF, or --config"}});
    return false;
  }
  if (tell_endless(subject, findings)) return false;
  findings.push_back(ok(check, shown(subject.path)));
  bool utf16 = false;
  for (const auto& file : subject.lines.files) utf16 = tell_utf16(file, findings) || utf16;
  if (utf16) return false;
  for (const auto& include : subject.lines.includes) check_include(subject, include, findings);
  check_permissions(subject, findings);
  if (subject.conf.broken()) {
    tell_broken(subject, findings);
    return false;
  }
  findings.push_back(ok("syntax", "OpenSSL can read it"));
  return !tell_swallowed(subject, findings);
}

}  // namespace kaccel::calibrate::doctor
