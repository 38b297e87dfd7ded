// Who may read a file: its own mode, and those of the directories on the way to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/doctor/finding.hpp"

namespace kaccel::calibrate::doctor {

struct Closed {
  std::string path;  // the file, or a directory on the way to it
  const char* mode;  // for chmod: what is missing
};

// What keeps this process from reading the file; nothing where it may, or where it is not there.
std::optional<Closed> closed_to_this_user(const std::string& file);

// What keeps users who are neither owner nor of the group from it, going by the modes.
std::vector<Closed> closed_to_others(const std::string& file);

// chmod MODE PATH
Command opening(const Closed& closed);

}  // namespace kaccel::calibrate::doctor
