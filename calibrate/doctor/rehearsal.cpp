#include "calibrate/doctor/rehearsal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "calibrate/command_error.hpp"

namespace kaccel::calibrate::doctor {
namespace {

namespace fs = std::filesystem;

constexpr int deepest_include = 10;

using LinesOut = std::map<std::string, std::set<std::size_t>>;  // by file

class Flattened {
 public:
  Flattened(const Subject& subject, const LinesOut& out) : out_(out) {
    for (const auto& include : subject.lines.includes) {
      if (!include.circular) includes_[include.file].emplace(include.number, include.path);
    }
  }

  void add(const std::string& path, int depth = 0) {
    std::ifstream in(path, std::ios::binary);
    const auto out = out_.find(path);
    const auto& includes = includes_[path];
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (out != out_.end() && out->second.contains(number)) {
        text_ += '#' + line + '\n';
      } else if (const auto include = includes.find(number); include == includes.end() ||
                                                             depth >= deepest_include ||
                                                             !follow(include->second, depth)) {
        text_ += line + '\n';
      }
    }
  }

  std::string take() { return std::move(text_); }

 private:
  bool follow(const std::string& path, int depth) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || access(path.c_str(), R_OK) != 0) return false;
    add(path, depth + 1);
    return true;
  }

  std::map<std::string, std::map<std::size_t, std::string>> includes_;  // by file and line
  const LinesOut& out_;
  std::string text_;
};

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_((fs::temp_directory_path() / "kaccel-doctor-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());
    if (fd < 0) {
      path_.clear();
      return;
    }
    close(fd);
    std::ofstream(path_, std::ios::binary) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }  // "" where there is no place for it

 private:
  std::string path_;
};

bool changes_the_configuration(const Finding& finding) {
  const auto& commands = finding.mend.commands;
  return !finding.mend.lines.empty() ||
         std::any_of(commands.begin(), commands.end(),
                     [](const Command& c) { return !c.file.empty(); });
}

std::string loss(const Trial& before, const Trial& after) {
  if (!before.finished) return {};
  if (!after.finished) return "a program that loads it: " + after.end;
  auto lost = after.missing();
  std::erase_if(lost, [&](const std::string& name) { return before.answers.at(name).empty(); });
  if (!lost.empty()) return fmt::format("nobody would answer for {}", fmt::join(lost, ", "));
  if (before.refused.empty() && !after.refused.empty()) {
    return "OpenSSL would refuse it: " + printable(after.refused, 300);
  }
  if (!before.build_info.empty() && after.build_info.empty()) return "kaccel would not be loaded";
  return before.encryption == "same" && after.encryption != "same" ? "encryption would fail" : "";
}

}  // namespace

std::string mended_text(const Subject& subject, const Findings& findings) {
  LinesOut out;
  std::string appended;
  for (const auto& finding : findings) {
    for (const auto& command : finding.mend.commands) {
      if (!command.file.empty()) {
        out[command.file].insert(command.lines.begin(), command.lines.end());
      }
    }
    for (const auto& line : finding.mend.lines) appended += line + '\n';
  }
  Flattened text(subject, out);
  text.add(subject.path);
  return text.take() + appended;
}

std::string what_would_break(const Subject& subject, const Findings& findings) {
  if (std::none_of(findings.begin(), findings.end(), changes_the_configuration)) return {};
  const TemporaryFile copy(mended_text(subject, findings));
  if (copy.path().empty()) return {};
  return loss(subject.trial, try_configuration(copy.path()));
}

void rehearse(const Subject& subject, Findings& findings) {
  const std::string lost = what_would_break(subject, findings);
  if (lost.empty()) return;
  for (auto& finding : findings) {
    if (changes_the_configuration(finding)) finding.mend = {};
  }
  findings.push_back(
      {State::problem,
       "mending",
       "changes that doctor knows would break what works: " + lost,
       printable(subject.path, 200),
       "none is printed; a copy with them was tried",
       {{}, {}, {}, "compare the sections that kaccel needs with openssl.cnf.example, by hand"}});
}

}  // namespace kaccel::calibrate::doctor
