#include "calibrate/doctor/permissions.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "calibrate/doctor/configuration_lines.hpp"

namespace kaccel::calibrate::doctor {
namespace {

namespace fs = std::filesystem;

void add_directories(const fs::path& file, std::vector<std::string>& result) {
  std::vector<std::string> upwards;
  for (fs::path up = file.parent_path(); !up.empty() && up != up.root_path();
       up = up.parent_path()) {
    upwards.push_back(up.string());
  }
  for (auto each = upwards.rbegin(); each != upwards.rend(); ++each) {
    if (std::find(result.begin(), result.end(), *each) == result.end()) result.push_back(*each);
  }
}

// From the root on: those on the path as it is written, and those behind its links.
std::vector<std::string> directories_to(const std::string& file) {
  std::vector<std::string> result;
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  add_directories(absolute, result);
  const fs::path real = fs::weakly_canonical(absolute, error);
  if (!error) add_directories(real, result);
  return result;
}

bool refuses(const std::string& path, int access_mode) {
  return access(path.c_str(), access_mode) != 0 && errno == EACCES;
}

bool others_may(const std::string& path, mode_t permission) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 || (status.st_mode & permission) != 0;
}

}  // namespace

std::optional<Closed> closed_to_this_user(const std::string& file) {
  for (const auto& directory : directories_to(file)) {
    if (refuses(directory, X_OK)) return Closed{directory, "a+x"};
  }
  if (refuses(file, R_OK)) return Closed{file, "a+r"};
  return std::nullopt;
}

std::vector<Closed> closed_to_others(const std::string& file) {
  std::vector<Closed> result;
  for (const auto& directory : directories_to(file)) {
    if (!others_may(directory, S_IXOTH)) result.push_back({directory, "a+x"});
  }
  if (!others_may(file, S_IROTH)) result.push_back({file, "a+r"});
  return result;
}

Command opening(const Closed& closed) {
  return fmt::format("chmod {} {}", closed.mode, shell_word(closed.path));
}

}  // namespace kaccel::calibrate::doctor
