// Reading a file that a user named.
#pragma once

#include <string>

namespace kaccel::calibrate {

// The whole file, at most 16 MiB. Throws CommandError (exit_bad_input) with the reason.
std::string read_input_file(const std::string& path);

}  // namespace kaccel::calibrate
