#include "calibrate/doctor/broken_line.hpp"

#include <fstream>
#include <set>

namespace kaccel::calibrate::doctor {
namespace {

OpensslConf without_includes(const ConfigurationLines& lines, const std::string& file) {
  std::set<std::size_t> includes;
  for (const auto& include : lines.includes) {
    if (include.file == file) includes.insert(include.number);
  }
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line); text += '\n') {
    if (!includes.contains(++number)) text += line;
  }
  return OpensslConf::of_text(text);
}

}  // namespace

BrokenLine find_broken_line(const std::string& path, const OpensslConf::Broken& whole,
                            const ConfigurationLines& lines) {
  for (auto each = lines.files.rbegin(); each != lines.files.rend(); ++each) {
    const auto alone = without_includes(lines, *each);
    if (alone.broken()) return {*each, *alone.broken()};
  }
  return {path, whole};
}

}  // namespace kaccel::calibrate::doctor
