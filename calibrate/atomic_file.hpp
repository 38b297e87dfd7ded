// Replaces a file as a whole: readers see the old text or the new, never a half.
#pragma once

#include <string>
#include <string_view>

namespace kaccel::calibrate {

// Whether replace_file would work, by making and removing a temporary file beside `path`. Throws
// CommandError (exit_cannot) with the reason. Follows a symbolic link at `path`.
void check_replaceable(const std::string& path);

// Writes a temporary file beside `path`, with mode 0644, syncs it and renames it. Throws
// CommandError (exit_cannot); then the old file is as it was and the temporary one is gone.
void replace_file(const std::string& path, std::string_view text);

}  // namespace kaccel::calibrate
