#include "calibrate/doctor/configuration_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "calibrate/command_error.hpp"

namespace kaccel::calibrate::doctor {
namespace {

namespace fs = std::filesystem;

constexpr int deepest_include = 10;
constexpr std::string_view blanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

class LineReader {
 public:
  explicit LineReader(ConfigurationLines& result) : result_(result) {}

  void read(const std::string& path, int depth) {
    std::error_code error;
    if (depth > deepest_include || !fs::is_regular_file(path, error)) return;
    std::ifstream in(path, std::ios::binary);
    if (!in) return;
    result_.files.push_back(path);
    std::size_t number = 0;
    for (std::string text; std::getline(in, text);) {
      const std::size_t first = ++number;
      for (std::string more; continues(text) && std::getline(in, more); ++number) {
        text.erase(text.find_last_of('\\'));
        text += more;
      }
      take(text, path, first, depth);
    }
  }

 private:
  static bool continues(std::string_view text) {
    const auto end = text.find_last_not_of("\r\n");
    return end != std::string_view::npos && text[end] == '\\' &&
           (end == 0 || text[end - 1] != '\\');
  }

  void take(std::string_view text, const std::string& path, std::size_t number, int depth) {
    text = trim(text.substr(0, text.find('#')));
    if (text.empty()) return;
    if (text.front() == '[') {
      enter_section(std::string(trim(text.substr(1, text.find(']') - 1))));
      return;
    }
    constexpr std::string_view include = ".include";
    if (text.starts_with(include) && text.size() > include.size() &&
        (std::isspace(static_cast<unsigned char>(text[include.size()])) != 0 ||
         text[include.size()] == '=')) {
      auto target = trim(text.substr(include.size()));
      if (target.starts_with('=')) target = trim(target.substr(1));
      follow(with_directory(target), path, number, depth);
      return;
    }
    const auto equals = text.find('=');
    if (text.front() == '.' || equals == std::string_view::npos) return;
    result_.keys.push_back({path, number, section_, std::string(trim(text.substr(0, equals))),
                            std::string(trim(text.substr(equals + 1)))});
  }

  void enter_section(std::string name) {
    section_ = std::move(name);
    if (!result_.has_section(section_)) result_.sections.push_back(section_);
  }

  // config(5): a relative path belongs into the directory that the environment names, if any.
  static std::string with_directory(std::string_view target) {
    const char* directory = std::getenv("OPENSSL_CONF_INCLUDE");
    if (directory == nullptr || target.starts_with('/')) return std::string(target);
    return (fs::path(directory) / target).string();
  }

  void follow(const std::string& target, const std::string& path, std::size_t number, int depth) {
    result_.includes.push_back({target, path, number});
    std::error_code error;
    if (!fs::is_directory(target, error)) {
      read(target, depth + 1);
      return;
    }
    for (const auto& entry : fs::directory_iterator(target, error)) {
      const auto extension = entry.path().extension();
      if (extension == ".cnf" || extension == ".conf") read(entry.path().string(), depth + 1);
    }
  }

  ConfigurationLines& result_;
  std::string section_ = "default";
};

}  // namespace

const ConfigurationLine* ConfigurationLines::find(std::string_view section,
                                                  std::string_view key) const noexcept {
  const auto found = std::find_if(keys.rbegin(), keys.rend(), [&](const ConfigurationLine& line) {
    return line.section == section && line.key == key;
  });
  return found != keys.rend() ? &*found : nullptr;
}

bool ConfigurationLines::has_section(std::string_view name) const noexcept {
  return std::find(sections.begin(), sections.end(), name) != sections.end();
}

ConfigurationLines read_configuration_lines(const std::string& path) {
  ConfigurationLines result;
  LineReader(result).read(path, 0);
  return result;
}

std::string describe(const ConfigurationLine& line) {
  return fmt::format("{}, line {}, [{}], {} = {}", printable(line.file, 200), line.number,
                     printable(line.section), printable(line.key), printable(line.value));
}

std::vector<std::string> comment_out(const std::vector<const ConfigurationLine*>& lines) {
  std::map<std::string, std::string> scripts;
  for (const auto* line : lines) {
    auto& script = scripts[line->file];
    script += fmt::format("{}{}s/^/#/", script.empty() ? "" : ";", line->number);
  }
  std::vector<std::string> commands;
  for (const auto& [file, script] : scripts) {
    commands.push_back(fmt::format("sed -i '{}' {}", script, shell_word(file)));
  }
  return commands;
}

std::string shell_word(std::string_view path) {
  const bool plain = !path.empty() && std::all_of(path.begin(), path.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+,:@=").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(path);
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace kaccel::calibrate::doctor
