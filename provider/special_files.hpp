// What stands in a file's place in a configuration and is none: a FIFO waits for a writer, with
// every reader anew, and a device may give bytes for ever.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kaccel {

// "a FIFO" or "a device"; nullptr for what may be read as often as one likes: a file, a directory,
// /dev/null, and what is not there. Follows links, opens nothing.
const char* special_kind(const std::string& path) noexcept;

// The path that an .include line of config(5) names; nothing where it is another line. Variables
// and quotes are left as they stand. May throw std::bad_alloc.
std::optional<std::string> included_path(std::string_view line);

struct SpecialInclude {
  std::string path;
  const char* kind;  // see special_kind()
  std::string file;  // that includes it, and the number of the line, from 1
  std::size_t line;
};

// The first special file among those that a configuration file includes, also through others and
// through directories. A path that is written with variables is not found. Opens only what is no
// special file, and what is included in a circle once. May throw std::bad_alloc.
std::optional<SpecialInclude> find_special_include(const std::string& config);

}  // namespace kaccel
