#include "provider/settings.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <set>

#include "kernel-bridge/driver_health.hpp"

namespace kaccel {
namespace {

constexpr const char* thresholds_prefix = "thresholds.";
constexpr std::array algorithm_keys{"driver", "encrypt", "decrypt", "min_size", "max_size"};
constexpr std::array global_keys{"thresholds", "max_sessions", "load_default", "force_threshold"};
// Read by OpenSSL itself when it loads a provider (config(5)).
constexpr std::array openssl_keys{"identity", "module", "soft_load", "activate"};

// Larger than any request, small enough for 32-bit machines.
constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

[[nodiscard]] SettingsError wrong_value(const std::string& key, const char* value,
                                        const std::string& allowed) {
  return {key + " = " + value + ": " + allowed};
}

std::optional<std::int64_t> parse_integer(const char* text) noexcept {
  std::int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// One reader for all keys, so that every complaint has the same form.
class Reader {
 public:
  explicit Reader(const SettingsLookup& lookup) : lookup_(lookup) {}

  const char* text(const std::string& key) const { return lookup_(key.c_str()); }

  // Leaves `value` alone where the key is not set.
  template <class Value>
  void integer(const std::string& key, std::int64_t least, std::int64_t most,
               const std::string& allowed, Value& value) {
    const char* given = text(key);
    if (given == nullptr || error_) return;
    const auto number = parse_integer(given);
    if (!number || *number < least || *number > most) {
      error_ = wrong_value(key, given, "must be " + allowed);
      return;
    }
    value = static_cast<typename Unwrapped<Value>::type>(*number);
  }

  void boolean(const std::string& key, bool& value) {
    const char* given = text(key);
    if (given == nullptr || error_) return;
    for (const char* yes : {"yes", "true", "on", "1"}) {
      if (::strcasecmp(given, yes) == 0) {
        value = true;
        return;
      }
    }
    for (const char* no : {"no", "false", "off", "0"}) {
      if (::strcasecmp(given, no) == 0) {
        value = false;
        return;
      }
    }
    error_ = wrong_value(key, given, "must be yes or no");
  }

  void threshold(const std::string& key, Threshold& value) {
    integer(key, never_hardware, largest_size, threshold_text(), value);
  }
  void threshold(const std::string& key, std::optional<Threshold>& value) {
    integer(key, never_hardware, largest_size, threshold_text(), value);
  }

  void fail(SettingsError error) {
    if (!error_) error_ = std::move(error);
  }
  const std::optional<SettingsError>& error() const noexcept { return error_; }

 private:
  template <class T>
  struct Unwrapped {
    using type = T;
  };
  template <class T>
  struct Unwrapped<std::optional<T>> {
    using type = T;
  };

  static std::string threshold_text() {
    return "a number of bytes (0: always hardware) or -1 (never)";
  }

  const SettingsLookup& lookup_;
  std::optional<SettingsError> error_;
};

bool is_driver_name(std::string_view name) noexcept {
  return !name.empty() && name.size() < kernel::BoundDriver::name_size &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

void read_algorithm(const CipherAlgorithm& algorithm, Reader& reader, AlgorithmSettings& result) {
  const std::string prefix = thresholds_prefix + std::string(algorithm.name) + ".";
  const char* driver = reader.text(prefix + "driver");
  if (driver == nullptr) {
    // The writer puts the driver last, so this is also how a file that was cut off shows itself.
    for (const char* key : algorithm_keys) {
      if (reader.text(prefix + key) != nullptr) {
        reader.fail({prefix + "driver is missing though " + prefix + key +
                     " is set: the thresholds file may be cut off; run kaccel-calibrate again"});
        return;
      }
    }
    return;
  }
  if (!is_driver_name(driver)) {
    reader.fail(wrong_value(prefix + "driver", driver,
                            "must be a driver name as in /proc/crypto, at most 63 characters"));
    return;
  }
  result.driver = driver;
  for (const char* key : {"encrypt", "decrypt"}) {
    if (reader.text(prefix + key) == nullptr) {
      reader.fail({prefix + key + " is missing though " + prefix +
                   "driver is set: add it, or run kaccel-calibrate again"});
      return;
    }
  }
  reader.threshold(prefix + "encrypt", result.encrypt);
  reader.threshold(prefix + "decrypt", result.decrypt);
  const std::string size_text = "a number of bytes from 1 to " + std::to_string(largest_size);
  reader.integer(prefix + "min_size", 1, largest_size, size_text, result.restrictions.min_size);
  reader.integer(prefix + "max_size", 1, largest_size, size_text, result.restrictions.max_size);
}

bool names_thresholds(const SettingsLookup& lookup) {
  const std::vector<std::string> keys = known_settings_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return key.starts_with(thresholds_prefix) && lookup(key.c_str()) != nullptr;
  });
}

}  // namespace

std::optional<SettingsError> parse_settings(const SettingsLookup& lookup, Settings& settings) {
  Settings result;
  Reader reader(lookup);
  reader.integer("max_sessions", 1, 1024, "a number from 1 to 1024", result.max_sessions);
  reader.boolean("load_default", result.load_default);
  reader.threshold("force_threshold", result.force_threshold);
  for (std::size_t i = 0; i < cipher_algorithms.size(); ++i) {
    read_algorithm(cipher_algorithms[i], reader, result.ciphers[i]);
  }
  if (reader.error()) return reader.error();
  result.calibrated = names_thresholds(lookup);
  settings = std::move(result);
  return std::nullopt;
}

std::vector<std::string> known_settings_keys() {
  std::vector<std::string> keys(global_keys.begin(), global_keys.end());
  for (const CipherAlgorithm& algorithm : cipher_algorithms) {
    for (const char* key : algorithm_keys) {
      keys.push_back(thresholds_prefix + std::string(algorithm.name) + "." + key);
    }
  }
  return keys;
}

std::optional<SettingsError> find_unknown_key(const std::map<std::string, std::string>& section) {
  const std::vector<std::string> own = known_settings_keys();
  std::set<std::string_view> known(own.begin(), own.end());
  known.insert(openssl_keys.begin(), openssl_keys.end());
  for (const auto& [key, value] : section) {
    if (known.contains(key)) continue;
    if (key.starts_with(thresholds_prefix)) {
      return SettingsError{key + ": unknown key; in the thresholds section a key is ALGORITHM.driver, "
                                 ".encrypt, .decrypt, .min_size or .max_size, and ALGORITHM is a "
                                 "name that kaccel-calibrate list prints"};
    }
    return SettingsError{key +
                         ": unknown key in kaccel's section; known are thresholds, max_sessions, "
                         "load_default and force_threshold"};
  }
  return std::nullopt;
}

}  // namespace kaccel
