#include "provider/settings.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernel-bridge/driver_health.hpp"

namespace kaccel {
namespace {

constexpr std::string_view thresholds_prefix = "thresholds.";
constexpr const char* calibrated_key = "thresholds.calibrated";
constexpr std::array global_keys{"thresholds", "max_sessions",  "load_default", "force_threshold",
                                 "statistics", "under_seccomp", calibrated_key};
// Read by OpenSSL itself when it loads a provider (config(5)).
constexpr std::array openssl_keys{"identity", "module", "soft_load", "activate"};

// The keys of one algorithm; the enumerators index the row's key texts below.
enum AlgorithmKey : std::size_t {
  driver_key,
  encrypt_key,
  decrypt_key,
  threshold_key,
  min_size_key,
  max_size_key,
  size_multiple_key,
  stealing_key
};
constexpr std::array<std::string_view, 8> algorithm_keys{
    "driver",   "encrypt",  "decrypt",       "threshold",
    "min_size", "max_size", "size_multiple", "ciphertext_stealing"};

constexpr bool has_key(const Algorithm& algorithm, std::size_t key) {
  switch (key) {
    case encrypt_key:
    case decrypt_key:
      return !is_mac(algorithm);
    case threshold_key:
      return is_mac(algorithm);
    case stealing_key:
      return algorithm.kind == Kind::data_units;
    default:
      return true;
  }
}

// "thresholds.AES-128-CBC.min_size" and its like.
using KeyText = std::array<char, 48>;  // empty: the algorithm has no such key
using AlgorithmKeyTexts = std::array<KeyText, algorithm_keys.size()>;

constexpr KeyText join(std::string_view algorithm, std::string_view key) {
  KeyText text{};
  auto end = std::copy(thresholds_prefix.begin(), thresholds_prefix.end(), text.begin());
  end = std::copy(algorithm.begin(), algorithm.end(), end);
  *end++ = '.';
  std::copy(key.begin(), key.end(), end);
  return text;
}

constexpr auto algorithm_key_texts = [] {
  std::array<AlgorithmKeyTexts, algorithm_table.size()> texts{};
  for (std::size_t row = 0; row < texts.size(); ++row) {
    for (std::size_t key = 0; key < algorithm_keys.size(); ++key) {
      if (!has_key(algorithm_table[row], key)) continue;
      texts[row][key] = join(algorithm_table[row].name, algorithm_keys[key]);
    }
  }
  return texts;
}();

constexpr auto key_groups = [] {
  std::array<KeyGroup, algorithm_table.size()> groups{};
  std::size_t next = global_keys.size();
  for (std::size_t row = 0; row < groups.size(); ++row) {
    groups[row].first = next;
    for (std::size_t key = 0; key < algorithm_keys.size(); ++key) {
      groups[row].size += has_key(algorithm_table[row], key) ? 1 : 0;
    }
    next += groups[row].size;
  }
  return groups;
}();

constexpr auto all_keys = [] {
  std::array<const char*, key_groups.back().first + key_groups.back().size> keys{};
  auto end = std::copy(global_keys.begin(), global_keys.end(), keys.begin());
  for (const AlgorithmKeyTexts& row : algorithm_key_texts) {
    for (const KeyText& text : row) {
      if (text[0] != '\0') *end++ = text.data();
    }
  }
  return keys;
}();

// Larger than any request, small enough for 32-bit machines.
constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

[[nodiscard]] SettingsError wrong_value(std::string_view key, const char* value,
                                        std::string_view allowed) {
  return {std::string(key) + " = " + value + ": " + std::string(allowed)};
}

// The writer puts the driver last, so this is also how a file that was cut off shows itself.
[[nodiscard]] SettingsError missing_driver(std::string_view driver, std::string_view other) {
  return {std::string(driver) + " is missing though " + std::string(other) +
          " is set: the thresholds file may be cut off; run kaccel-calibrate again"};
}

std::optional<std::int64_t> parse_integer(const char* text) noexcept {
  std::int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

struct Range {
  std::int64_t least;
  std::int64_t most;
  const char* text;  // completes "must be"
};
constexpr Range threshold_range{never_hardware, largest_size,
                                "a number of bytes (0: always hardware) or -1 (never)"};
constexpr Range size_range{1, largest_size, "a number of bytes, at least 1"};
constexpr Range multiple_range{1, std::int64_t{1} << 20, "a number of bytes from 1 to 1048576"};
constexpr Range sessions_range{1, 1024, "a number from 1 to 1024"};

// One reader for all keys, so that every complaint has the same form. The first one counts.
class Reader {
 public:
  explicit Reader(const SettingsLookup& lookup) : lookup_(lookup) {}

  const char* text(const char* key) const { return lookup_(key); }

  // Leaves `value` alone where the key is not set.
  template <class Value>
  void integer(const char* key, const Range& range, Value& value) {
    const char* given = text(key);
    if (given == nullptr || error_) return;
    const auto number = parse_integer(given);
    if (!number || *number < range.least || *number > range.most) {
      error_ = wrong_value(key, given, std::string("must be ") + range.text);
      return;
    }
    if constexpr (std::is_integral_v<Value>) {
      value = static_cast<Value>(*number);
    } else {
      value = *number;
    }
  }

  void boolean(const char* key, bool& value) {
    const char* given = text(key);
    if (given == nullptr || error_) return;
    const auto is_one_of = [given](std::initializer_list<const char*> words) {
      return std::any_of(words.begin(), words.end(),
                         [given](const char* word) { return ::strcasecmp(given, word) == 0; });
    };
    if (is_one_of({"yes", "true", "on", "1"})) {
      value = true;
    } else if (is_one_of({"no", "false", "off", "0"})) {
      value = false;
    } else {
      error_ = wrong_value(key, given, "must be yes or no");
    }
  }

  void absolute_path(const char* key, std::string& value) {
    const char* given = text(key);
    if (given == nullptr || error_) return;
    if (*given != '/') {
      error_ = wrong_value(key, given, "must be a path from the root, such as /run/kaccel");
      return;
    }
    value = given;
  }

  void fail(SettingsError error) {
    if (!error_) error_ = std::move(error);
  }
  const std::optional<SettingsError>& error() const noexcept { return error_; }

 private:
  const SettingsLookup& lookup_;
  std::optional<SettingsError> error_;
};

bool is_driver_name(std::string_view name) noexcept {
  return !name.empty() && name.size() < kernel::BoundDriver::name_size &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

void read_algorithm(const Algorithm& algorithm, const AlgorithmKeyTexts& keys, Reader& reader,
                    AlgorithmSettings& result) {
  const auto key = [&keys](AlgorithmKey which) { return keys[which].data(); };
  const char* driver = reader.text(key(driver_key));
  if (driver == nullptr) {
    // The writer begins with the threshold.
    const char* first = key(is_mac(algorithm) ? threshold_key : encrypt_key);
    if (reader.text(first) != nullptr) reader.fail(missing_driver(key(driver_key), first));
    return;
  }
  if (!is_driver_name(driver)) {
    reader.fail(wrong_value(key(driver_key), driver,
                            "must be a driver name as in /proc/crypto, at most 63 characters"));
    return;
  }
  result.driver = driver;
  for (const AlgorithmKey needed : {encrypt_key, decrypt_key, threshold_key}) {
    if (has_key(algorithm, needed) && reader.text(key(needed)) == nullptr) {
      reader.fail({std::string(key(needed)) + " is missing though " + key(driver_key) +
                   " is set: add it, or run kaccel-calibrate again"});
      return;
    }
  }
  if (is_mac(algorithm)) {
    reader.integer(key(threshold_key), threshold_range, result.encrypt);
    result.decrypt = result.encrypt;
  } else {
    reader.integer(key(encrypt_key), threshold_range, result.encrypt);
    reader.integer(key(decrypt_key), threshold_range, result.decrypt);
  }
  reader.integer(key(min_size_key), size_range, result.restrictions.min_size);
  reader.integer(key(max_size_key), size_range, result.restrictions.max_size);
  reader.integer(key(size_multiple_key), multiple_range, result.restrictions.size_multiple);
  result.restrictions.multiple_above = result.restrictions.size_multiple;
  if (result.restrictions.min_size > result.restrictions.max_size) {
    reader.fail({std::string(key(min_size_key)) + " is above " + key(max_size_key) +
                 ": no request would fit; mend one of them, or run kaccel-calibrate again"});
  }
  if (has_key(algorithm, stealing_key)) {
    reader.boolean(key(stealing_key), result.ciphertext_stealing);
  }
}

}  // namespace

std::optional<SettingsError> parse_settings(const SettingsLookup& lookup, Settings& settings) {
  Settings result;
  Reader reader(lookup);
  // OpenSSL hands over the name itself only where it does not name a section.
  if (const char* name = reader.text("thresholds")) result.missing_section = name;
  reader.integer("max_sessions", sessions_range, result.max_sessions);
  reader.boolean("load_default", result.load_default);
  reader.integer("force_threshold", threshold_range, result.force_threshold);
  reader.absolute_path("statistics", result.statistics);
  reader.boolean("under_seccomp", result.under_seccomp);
  reader.boolean(calibrated_key, result.calibrated);
  for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
    read_algorithm(algorithm_table[row], algorithm_key_texts[row], reader, result.algorithms[row]);
    result.calibrated = result.calibrated || !result.algorithms[row].driver.empty();
  }
  if (reader.error()) return reader.error();
  settings = std::move(result);
  return std::nullopt;
}

std::span<const char* const> known_settings_keys() noexcept {
  return all_keys;
}

std::span<const KeyGroup> settings_key_groups() noexcept {
  return key_groups;
}

std::size_t find_settings_key(std::string_view key) noexcept {
  std::size_t first = 0;
  std::size_t end = global_keys.size();
  const std::size_t dot = key.rfind('.');
  if (key.starts_with(thresholds_prefix) && dot >= thresholds_prefix.size()) {
    const auto name = key.substr(thresholds_prefix.size(), dot - thresholds_prefix.size());
    const auto row = std::find_if(algorithm_table.begin(), algorithm_table.end(),
                                  [name](const Algorithm& each) { return name == each.name; });
    if (row == algorithm_table.end()) return all_keys.size();
    const KeyGroup& group = key_groups[static_cast<std::size_t>(row - algorithm_table.begin())];
    first = group.first;
    end = first + group.size;
  }
  while (first < end && key != all_keys[first]) ++first;
  return first < end ? first : all_keys.size();
}

std::optional<SettingsError> find_unknown_key(const std::map<std::string, std::string>& section) {
  const auto is_openssls = [](const std::string& key) {
    return std::any_of(openssl_keys.begin(), openssl_keys.end(),
                       [&key](const char* known) { return key == known; });
  };
  for (const auto& [key, value] : section) {
    const std::size_t position = find_settings_key(key);
    if (position < global_keys.size() || is_openssls(key)) continue;
    if (position < all_keys.size()) {
      const auto after = std::upper_bound(
          key_groups.begin(), key_groups.end(), position,
          [](std::size_t wanted, const KeyGroup& each) { return wanted < each.first; });
      const char* const driver = all_keys[std::prev(after)->first];
      if (!section.contains(driver)) return missing_driver(driver, key);
      continue;
    }
    if (key.starts_with(thresholds_prefix)) {
      return SettingsError{key +
                           ": unknown key; in the thresholds section a key is ALGORITHM.driver, "
                           ".encrypt, .decrypt, .min_size, .max_size or .size_multiple, and "
                           "ALGORITHM is a name such as AES-128-CBC; an HMAC has .threshold "
                           "instead of .encrypt and .decrypt, an XTS also .ciphertext_stealing"};
    }
    return SettingsError{key +
                         ": unknown key in kaccel's section; known are thresholds, max_sessions, "
                         "load_default, force_threshold, statistics and under_seccomp"};
  }
  return std::nullopt;
}

}  // namespace kaccel
