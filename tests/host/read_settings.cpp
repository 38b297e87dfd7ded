// Prints, a line of JSON for each configuration file, the settings that kaccel takes from it: by
// the provider's own reader, out of a provider entry that OpenSSL calls as it calls kaccel's.
//
//   read-settings FILE...

#include <openssl/conf.h>
#include <openssl/core_dispatch.h>
#include <openssl/err.h>
#include <openssl/provider.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "provider/algorithms.hpp"
#include "provider/provider_settings.hpp"

namespace {

using nlohmann::json;

json reading;  // what the entry below found; OpenSSL gives it no argument of ours

json to_json(const kaccel::Settings& settings) {
  json result{{"calibrated", settings.calibrated},
              {"max_sessions", settings.max_sessions},
              {"load_default", settings.load_default},
              {"under_seccomp", settings.under_seccomp},
              {"algorithms", json::object()}};
  if (settings.force_threshold) result["force_threshold"] = *settings.force_threshold;
  for (std::size_t row = 0; row < kaccel::algorithm_table.size(); ++row) {
    const kaccel::AlgorithmSettings& algorithm = settings.algorithms[row];
    if (algorithm.driver.empty()) continue;
    json& entry = result["algorithms"][kaccel::algorithm_table[row].name];
    entry = {{"driver", algorithm.driver},
             {"encrypt", algorithm.encrypt},
             {"decrypt", algorithm.decrypt}};
    const kaccel::kernel::Restrictions none;
    if (algorithm.restrictions.min_size != none.min_size) {
      entry["min_size"] = algorithm.restrictions.min_size;
    }
    if (algorithm.restrictions.max_size != none.max_size) {
      entry["max_size"] = algorithm.restrictions.max_size;
    }
    if (algorithm.restrictions.size_multiple != none.size_multiple) {
      entry["size_multiple"] = algorithm.restrictions.size_multiple;
    }
  }
  return result;
}

int read_only(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in, const OSSL_DISPATCH** out,
              void** provider_context) {
  static const OSSL_DISPATCH no_functions[] = {{0, nullptr}};
  kaccel::Settings settings;
  const auto error = kaccel::load_settings(handle, in, settings);
  reading = error ? json{{"error", error->message}} : to_json(settings);
  *out = no_functions;
  *provider_context = nullptr;
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    setenv("OPENSSL_CONF", argv[i], 1);
    OSSL_LIB_CTX* context = OSSL_LIB_CTX_new();
    reading = json{{"asked", false}};
    OSSL_PROVIDER_add_builtin(context, "kaccel", read_only);
    const bool configured = OSSL_LIB_CTX_load_config(context, argv[i]) == 1;
    reading["configured"] = configured;
    std::puts(reading.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
    OSSL_LIB_CTX_free(context);
  }
  return 0;
}
