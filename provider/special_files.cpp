#include "provider/special_files.hpp"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernel-bridge/proc_crypto.hpp"

namespace kaccel {
namespace {

constexpr std::string_view keyword = ".include";
constexpr std::size_t most_files = 1000;

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_null_device(const struct stat& status) noexcept {
  return S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(1, 3);
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

// As OpenSSL chooses them: by their names' ends. Nothing where `path` is no directory.
std::vector<std::string> files_in(const std::string& path) {
  std::vector<std::string> files;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  while (directory) {
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.ends_with(".cnf") || name.ends_with(".conf")) {
      files.push_back(path + "/" + entry->d_name);
    }
  }
  return files;
}

class Search {
 public:
  explicit Search(const std::string& config) { files_.push_back(config); }

  std::optional<SpecialInclude> run() {
    for (std::size_t i = 0; i < files_.size() && i < most_files; ++i) {
      const std::string file = files_[i];  // the list grows
      if (auto found = read(file)) return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<SpecialInclude> read(const std::string& file) {
    const std::string text = kernel::read_text_file(file);
    for (std::size_t at = text.find(keyword); at != std::string::npos;
         at = text.find(keyword, at + keyword.size())) {
      std::size_t begin = at;
      while (begin > 0 && is_blank(text[begin - 1])) --begin;
      if (begin > 0 && text[begin - 1] != '\n') continue;
      const auto end = std::min(text.find('\n', at), text.size());
      const auto path = included_path(std::string_view(text).substr(at, end - at));
      if (!path) continue;
      if (auto found = follow(*path)) {
        const auto lines = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
        found->file = file;
        found->line = static_cast<std::size_t>(lines) + 1;
        return found;
      }
    }
    return std::nullopt;
  }

  std::optional<SpecialInclude> follow(const std::string& path) {
    auto files = files_in(path);
    if (files.empty()) files.push_back(path);
    for (auto& each : files) {
      if (const char* kind = special_kind(each)) return SpecialInclude{each, kind, {}, 0};
      if (std::find(files_.begin(), files_.end(), each) == files_.end()) {
        files_.push_back(std::move(each));
      }
    }
    return std::nullopt;
  }

  std::vector<std::string> files_;  // each once
};

}  // namespace

const char* special_kind(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || is_null_device(status)) return nullptr;
  if (S_ISFIFO(status.st_mode)) return "a FIFO";
  return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) ? "a device" : nullptr;
}

std::optional<std::string> included_path(std::string_view line) {
  line = trim(line);
  if (!line.starts_with(keyword)) return std::nullopt;
  line.remove_prefix(keyword.size());
  if (line.empty() || !(is_blank(line.front()) || line.front() == '=')) return std::nullopt;
  line = trim(line.substr(0, line.find('#')));
  if (line.starts_with('=')) line = trim(line.substr(1));
  // config(5): a relative path belongs into the directory that the environment names, if any.
  const char* directory = ::secure_getenv("OPENSSL_CONF_INCLUDE");
  if (directory == nullptr || line.starts_with('/')) return std::string(line);
  return std::string(directory) + (std::string_view(directory).ends_with('/') ? "" : "/") +
         std::string(line);
}

std::optional<SpecialInclude> find_special_include(const std::string& config) {
  return Search(config).run();
}

}  // namespace kaccel
