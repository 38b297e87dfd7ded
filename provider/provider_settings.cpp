#include "provider/provider_settings.hpp"

#include <openssl/params.h>

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

// What the core says of every known key, in the order of known_settings_keys(). The strings are the
// core's and live as long as the provider.
using CoreValues = std::vector<char*>;

CoreValues values_from_core(const OSSL_CORE_HANDLE* handle,
                            OSSL_FUNC_core_get_params_fn* get_params) {
  const auto keys = known_settings_keys();
  CoreValues values(keys.size(), nullptr);
  std::vector<OSSL_PARAM> params;
  params.reserve(keys.size() + 1);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    params.push_back(OSSL_PARAM_construct_utf8_ptr(keys[i], &values[i], 0));
  }
  params.push_back(OSSL_PARAM_construct_end());
  if (get_params != nullptr) get_params(handle, params.data());
  return values;
}

bool comes_from(const ConfigSection& section, const CoreValues& values) {
  const auto keys = known_settings_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto here = section.values.find(keys[i]);
    const bool set_here = here != section.values.end();
    if (set_here != (values[i] != nullptr)) return false;
    if (set_here && here->second != values[i]) return false;
  }
  return true;
}

// The core cannot list the keys it was given, so a misspelt one shows only in the file. An
// application may have loaded another file than the default one: where the values differ, there is
// nothing to check.
std::optional<SettingsError> check_file(const CoreValues& values) {
  const std::string path = default_config_path();
  std::string problem;
  const std::optional<ConfigSection> section = read_config_section(path, problem);
  if (!section || !comes_from(*section, values)) return std::nullopt;
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
  const CoreValues values = values_from_core(handle, find_get_params(core_functions));
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
  if (auto error = check_file(values)) return error;
  if (!result.calibrated) {
    published_settings(kernel::read_text_file("/proc/crypto"), result);
  }
  settings = std::move(result);
  return std::nullopt;
}

}  // namespace kaccel
