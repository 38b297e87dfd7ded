#include "provider/provider_settings.hpp"

#include <openssl/params.h>

#include <algorithm>
#include <map>
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

// Asks the core for every key at once. The strings are the core's and live as long as the provider.
std::map<std::string, const char*> values_from_core(const OSSL_CORE_HANDLE* handle,
                                                    OSSL_FUNC_core_get_params_fn* get_params,
                                                    const std::vector<std::string>& keys) {
  std::vector<char*> values(keys.size(), nullptr);
  std::vector<OSSL_PARAM> params;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    params.push_back(OSSL_PARAM_construct_utf8_ptr(keys[i].c_str(), &values[i], 0));
  }
  params.push_back(OSSL_PARAM_construct_end());
  std::map<std::string, const char*> result;
  if (get_params == nullptr || get_params(handle, params.data()) != 1) return result;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (values[i] != nullptr) result[keys[i]] = values[i];
  }
  return result;
}

// The core cannot list the keys it was given, so a misspelt one shows only in the file. An
// application may have loaded another file than the default one: where the values differ, there is
// nothing to compare.
std::optional<SettingsError> check_file(const std::map<std::string, const char*>& core_values,
                                        const std::vector<std::string>& keys) {
  const std::string path = default_config_path();
  std::string problem;
  const std::optional<ConfigSection> section = read_config_section(path, problem);
  if (!section) return std::nullopt;
  const bool same = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto here = section->values.find(key);
    const auto core = core_values.find(key);
    if (here == section->values.end() || core == core_values.end()) {
      return here == section->values.end() && core == core_values.end();
    }
    return here->second == core->second;
  });
  if (!same) return std::nullopt;
  if (!section->unreadable_include.empty() && core_values.contains("thresholds")) {
    return SettingsError{path + ": an included file cannot be read: " +
                         section->unreadable_include};
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
  const std::vector<std::string> keys = known_settings_keys();
  const auto values = values_from_core(handle, find_get_params(core_functions), keys);
  Settings result;
  const SettingsLookup lookup = [&values](const char* key) -> const char* {
    const auto value = values.find(key);
    return value == values.end() ? nullptr : value->second;
  };
  if (auto error = parse_settings(lookup, result)) return error;
  if (auto error = check_file(values, keys)) return error;
  if (!result.calibrated) {
    published_settings(kernel::read_text_file("/proc/crypto"), result);
  }
  settings = std::move(result);
  return std::nullopt;
}

}  // namespace kaccel
