// What doctor says of one thing that it looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kaccel::calibrate::doctor {

enum class State : std::uint8_t {
  ok,
  warning,  // programs work; something is not as it could be
  problem,  // programs break, or kaccel is not used as the configuration means it
};

// A line for a shell, as root.
struct Command {
  std::string text;
  // Where it comments lines of a configuration file out: the file and their numbers, from 1.
  std::string file{};
  std::vector<std::size_t> lines{};

  Command(std::string command) : text(std::move(command)) {}
  Command(const char* command) : text(command) {}
};

// How to mend it: the commands first, since they name lines by their numbers, then the lines.
struct Mend {
  std::vector<Command> commands{};
  // To be put at the end of `file`. They begin with a section's header, and what comes later in a
  // file counts, so they need not replace anything.
  std::vector<std::string> lines{};
  std::string file{};
  std::string remark{};  // where there is a choice, the other one

  bool empty() const { return commands.empty() && lines.empty(); }
};

struct Finding {
  State state;
  std::string check;  // a few words, the same in every run
  std::string what;
  std::string where{};  // file, line, section, key; "" where ok
  std::string means{};  // for programs; "" where ok
  Mend mend{};
};

using Findings = std::vector<Finding>;

inline Finding ok(std::string check, std::string what) {
  return {State::ok, std::move(check), std::move(what)};
}

}  // namespace kaccel::calibrate::doctor
