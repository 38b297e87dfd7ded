// Where in a configuration file, and in the files it includes, a key stands. OpenSSL's reader gives
// values without lines; this gives lines without values' meaning, and nothing is decided by it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/doctor/finding.hpp"

namespace kaccel::calibrate::doctor {

struct ConfigurationLine {
  std::string file;
  std::size_t number;   // from 1
  std::string section;  // "default" before the first header
  std::string key;
  std::string value;
};

struct Include {
  std::string path;  // as OpenSSL opens it; in a directory: the directory
  std::string file;  // that holds the line
  std::size_t number;
  // The section that the included file ends in, and the lines of `file` that are read as part of it
  // because it is another one than that in which the line stands.
  std::string ends_in{};
  std::vector<ConfigurationLine> swallowed{};
  // What it brings that is no file, or in a directory looks like one; see special_kind(). Not read.
  std::vector<std::string> specials{};
  bool circular = false;  // the file is one of those that lead to this line; not read again
};

struct ConfigurationLines {
  std::vector<ConfigurationLine> keys;  // in the order in which OpenSSL reads them
  std::vector<std::string> sections;    // each once, in that order
  std::vector<Include> includes;
  std::vector<ConfigurationLine> switched_off;  // commented out: `#kaccel = SECTION`
  std::vector<std::string> files;               // all that were read, the named one first

  // The last one, which counts; nullptr where there is none.
  const ConfigurationLine* find(std::string_view section, std::string_view key) const noexcept;
};

// Never fails: what cannot be read has no lines.
ConfigurationLines read_configuration_lines(const std::string& path);

// "FILE, line N, [SECTION], KEY = VALUE", fit for a terminal.
std::string describe(const ConfigurationLine& line);

// Commands that comment these lines out, none too long for a shell; line numbers stay as they are.
std::vector<Command> comment_out(const std::vector<const ConfigurationLine*>& lines);

// The path as a shell reads it.
std::string shell_word(std::string_view path);

}  // namespace kaccel::calibrate::doctor
