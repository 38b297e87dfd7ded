#include "calibrate/doctor/configuration_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "calibrate/command_error.hpp"
#include "provider/special_files.hpp"

namespace kaccel::calibrate::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t deepest_include = 10;
constexpr std::size_t most_files = 1000;
constexpr std::string_view blanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

class LineReader {
 public:
  explicit LineReader(ConfigurationLines& result) : result_(result) {}

  void read(const std::string& path) {
    std::error_code error;
    if (way_.size() > deepest_include || result_.files.size() == most_files ||
        !fs::is_regular_file(path, error)) {
      return;
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) return;
    result_.files.push_back(path);
    way_.push_back(path);
    File file{path};
    for (std::string text; std::getline(in, text);) {
      const std::size_t first = ++file.lines;
      for (std::string more; continues(text) && std::getline(in, more); ++file.lines) {
        text.erase(text.find_last_of('\\'));
        text += more;
      }
      take(text, file, first);
    }
    way_.pop_back();
  }

 private:
  struct File {
    std::string path;
    std::size_t lines = 0;
    // The include, by its place in the result, whose last section the lines now belong to.
    std::optional<std::size_t> swallowed_by{};
  };

  static bool continues(std::string_view text) {
    const auto end = text.find_last_not_of("\r\n");
    return end != std::string_view::npos && text[end] == '\\' &&
           (end == 0 || text[end - 1] != '\\');
  }

  void take(std::string_view text, File& file, std::size_t number) {
    text = trim(text);
    if (text.starts_with('#')) note_switched_off(text, file, number);
    text = trim(text.substr(0, text.find('#')));
    if (text.empty()) return;
    if (text.front() == '[') {
      file.swallowed_by.reset();
      enter_section(std::string(trim(text.substr(1, text.find(']') - 1))));
      return;
    }
    if (const auto target = included_path(text)) {
      follow(*target, file, number);
      return;
    }
    if (text.front() == '.' || text.find('=') == std::string_view::npos) return;
    result_.keys.push_back(key_line(text, file, number));
    if (file.swallowed_by) {
      result_.includes[*file.swallowed_by].swallowed.push_back(result_.keys.back());
    }
  }

  ConfigurationLine key_line(std::string_view text, const File& file, std::size_t number) const {
    const auto equals = text.find('=');
    return {file.path, number, section_, std::string(trim(text.substr(0, equals))),
            std::string(trim(text.substr(equals + 1)))};
  }

  void note_switched_off(std::string_view text, const File& file, std::size_t number) {
    text.remove_prefix(std::min(text.find_first_not_of("# \t"), text.size()));
    text = text.substr(0, text.find('#'));
    if (text.find('=') == std::string_view::npos) return;
    auto line = key_line(text, file, number);
    if (line.key == "kaccel") result_.switched_off.push_back(std::move(line));
  }

  void enter_section(std::string name) {
    section_ = std::move(name);
    if (known_sections_.insert(section_).second) result_.sections.push_back(section_);
  }

  void follow(const std::string& target, File& file, std::size_t number) {
    const std::size_t place = result_.includes.size();
    result_.includes.push_back({target, file.path, number});
    const std::string before = section_;
    read_included(target, place);
    result_.includes[place].ends_in = section_;
    if (section_ != before) file.swallowed_by = place;
  }

  void read_included(const std::string& target, std::size_t place) {
    std::error_code error;
    if (!fs::is_directory(target, error)) {
      read_unless_special(target, place);
      return;
    }
    for (const auto& entry : fs::directory_iterator(target, error)) {
      const auto extension = entry.path().extension();
      if (extension == ".cnf" || extension == ".conf") {
        read_unless_special(entry.path().string(), place);
      }
    }
  }

  void read_unless_special(const std::string& path, std::size_t place) {
    if (special_kind(path) != nullptr) {
      result_.includes[place].specials.push_back(path);
    } else if (std::find(way_.begin(), way_.end(), path) != way_.end()) {
      result_.includes[place].circular = true;
    } else {
      read(path);
    }
  }

  ConfigurationLines& result_;
  std::vector<std::string> way_;  // files that are being read
  std::unordered_set<std::string> known_sections_;
  std::string section_ = "default";
};

using Numbers = std::set<std::size_t>::const_iterator;

// As many of a file's lines as one command takes; `next` moves on.
Command comment_out_some(const std::string& file, Numbers& next, Numbers end) {
  constexpr std::size_t most_ranges = 1000;
  std::vector<std::string> ranges;
  std::vector<std::size_t> lines;
  while (next != end && ranges.size() < most_ranges) {
    const std::size_t first = *next;
    std::size_t last = first;
    do {
      last = *next;
      lines.push_back(last);
    } while (++next != end && *next == last + 1);
    ranges.push_back(first == last ? fmt::format("{}", first) : fmt::format("{},{}", first, last));
  }
  Command command(
      fmt::format("sed -i '{}s/^/#/' {}", fmt::join(ranges, "s/^/#/;"), shell_word(file)));
  command.file = file;
  command.lines = std::move(lines);
  return command;
}

}  // namespace

const ConfigurationLine* ConfigurationLines::find(std::string_view section,
                                                  std::string_view key) const noexcept {
  const auto found = std::find_if(keys.rbegin(), keys.rend(), [&](const ConfigurationLine& line) {
    return line.section == section && line.key == key;
  });
  return found != keys.rend() ? &*found : nullptr;
}

ConfigurationLines read_configuration_lines(const std::string& path) {
  ConfigurationLines result;
  LineReader(result).read(path);
  return result;
}

std::string describe(const ConfigurationLine& line) {
  return fmt::format("{}, line {}, [{}], {} = {}", printable(line.file, 200), line.number,
                     printable(line.section), printable(line.key), printable(line.value));
}

std::vector<Command> comment_out(const std::vector<const ConfigurationLine*>& lines) {
  std::map<std::string, std::set<std::size_t>> numbers;
  for (const auto* line : lines) numbers[line->file].insert(line->number);
  std::vector<Command> commands;
  for (const auto& [file, each] : numbers) {
    for (auto next = each.begin(); next != each.end();) {
      commands.push_back(comment_out_some(file, next, each.end()));
    }
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
