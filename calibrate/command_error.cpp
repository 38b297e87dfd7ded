#include "calibrate/command_error.hpp"

namespace kaccel::calibrate {
namespace {

std::string one_line(std::string_view what, std::string_view where, std::string_view what_to_do) {
  std::string line(what);
  for (const std::string_view part : {where, what_to_do}) {
    if (!part.empty()) line.append(": ").append(part);
  }
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

}  // namespace

CommandError::CommandError(ExitStatus exit_status, std::string_view what, std::string_view where,
                           std::string_view what_to_do)
    : std::runtime_error(one_line(what, where, what_to_do)), status_(exit_status) {}

std::string printable(std::string_view text, std::size_t limit) {
  const bool cut = text.size() > limit;
  std::string result(text.substr(0, limit));
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) c = '?';
  }
  if (cut) result += "...";
  return result;
}

}  // namespace kaccel::calibrate
