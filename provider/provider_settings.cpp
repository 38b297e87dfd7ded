#include "provider/provider_settings.hpp"

#include <openssl/params.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernel-bridge/proc_crypto.hpp"
#include "provider/config_file.hpp"

namespace kaccel {
namespace {

OSSL_FUNC_core_get_params_fn* find_get_params(const OSSL_DISPATCH* core_functions) noexcept {
  for (; core_functions->function_id != 0; ++core_functions) {
    if (core_functions->function_id == OSSL_FUNC_CORE_GET_PARAMS) {
      return OSSL_FUNC_core_get_params(core_functions);
    }
  }
  return nullptr;
}

// What the core says of the known keys, in the order of known_settings_keys(). The strings are the
// core's and live as long as the provider.
class CoreValues {
 public:
  // The core compares each key that it is asked for with each that it has, and every process pays
  // for it. So it is asked first what groups there are, then for those.
  CoreValues(const OSSL_CORE_HANDLE* handle, OSSL_FUNC_core_get_params_fn* get_params)
      : values_(known_settings_keys().size(), nullptr), asked_(values_.size(), false) {
    if (get_params == nullptr) return;
    const auto groups = settings_key_groups();
    add(0, groups.front().first);
    for (const KeyGroup& group : groups) add(group.first, shows_group);
    ask(handle, get_params);
    for (const KeyGroup& group : groups) {
      if (values_[group.first] != nullptr) {
        add(group.first + shows_group, group.size - shows_group);
      }
    }
    ask(handle, get_params);
  }

  const char* operator[](std::size_t key) const noexcept { return values_[key]; }

  // Whether the core was given the same values as stand in this section.
  bool come_from(const ConfigSection& section) const {
    std::size_t same = 0;
    for (const auto& [key, value] : section.values) {
      const std::size_t here = find_settings_key(key);
      if (here == values_.size() || !asked_[here]) continue;
      if (values_[here] == nullptr || value != values_[here]) return false;
      ++same;
    }
    const auto set = std::count_if(values_.begin(), values_.end(),
                                   [](const char* value) { return value != nullptr; });
    return same == static_cast<std::size_t>(set);
  }

 private:
  static constexpr std::size_t shows_group = 2;  // keys: the driver and a threshold

  void add(std::size_t first, std::size_t count) {
    const auto keys = known_settings_keys();
    for (std::size_t i = first; i < first + count; ++i) {
      params_.push_back(OSSL_PARAM_construct_utf8_ptr(keys[i], &values_[i], 0));
      asked_[i] = true;
    }
  }

  void ask(const OSSL_CORE_HANDLE* handle, OSSL_FUNC_core_get_params_fn* get_params) {
    if (params_.empty()) return;
    params_.push_back(OSSL_PARAM_construct_end());
    get_params(handle, params_.data());
    params_.clear();
  }

  std::vector<char*> values_;
  std::vector<bool> asked_;
  std::vector<OSSL_PARAM> params_;
};

// The core cannot list the keys it was given, so a misspelt one shows only in the file. An
// application may have loaded another file than the default one: where the values differ, there is
// nothing to check.
std::optional<SettingsError> check_file(const CoreValues& values, Settings& settings) {
  const std::string path = default_config_path();
  // What can be read only once has been read: a FIFO would wait for ever.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string problem;
  const std::optional<ConfigSection> section = read_config_section(path, problem);
  if (!section || section->knot || !values.come_from(*section)) return std::nullopt;
  settings.random = section->random;
  if (!section->unreadable_include.empty()) {
    return SettingsError{path +
                         ": an included file cannot be read: " + section->unreadable_include};
  }
  if (auto unknown = find_unknown_key(section->values)) {
    return SettingsError{path + ": " + unknown->message};
  }
  return std::nullopt;
}

}  // namespace

std::optional<SettingsError> load_settings(const OSSL_CORE_HANDLE* handle,
                                           const OSSL_DISPATCH* core_functions,
                                           Settings& settings) {
  const CoreValues values(handle, find_get_params(core_functions));
  const auto keys = known_settings_keys();
  Settings result;
  // Keys are asked for in about the order of the table, some of a group twice, so each search
  // starts a little before the place where the last one ended.
  constexpr std::size_t before = 3;
  std::size_t next = 0;
  const SettingsLookup lookup = [&](const char* key) -> const char* {
    next = next < before ? 0 : next - before;
    for (std::size_t tried = 0; tried < keys.size(); ++tried, ++next) {
      if (next == keys.size()) next = 0;
      if (std::strcmp(keys[next], key) == 0) return values[next];
    }
    return nullptr;
  };
  if (auto error = parse_settings(lookup, result)) return error;
  if (auto error = check_file(values, result)) return error;
  if (!result.calibrated) {
    published_settings(kernel::read_text_file("/proc/crypto"), result);
  }
  settings = std::move(result);
  return std::nullopt;
}

}  // namespace kaccel
