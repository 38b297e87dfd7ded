#include "provider/config_file.hpp"

#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "provider/special_files.hpp"

namespace kaccel {
namespace {

struct FreeConf {
  void operator()(CONF* conf) const noexcept { NCONF_free(conf); }
};
using ConfPointer = std::unique_ptr<CONF, FreeConf>;

// Leaves OpenSSL's error queue as it was.
class ErrorMark {
 public:
  ErrorMark() noexcept { ERR_set_mark(); }
  ErrorMark(const ErrorMark&) = delete;
  ErrorMark& operator=(const ErrorMark&) = delete;
  ~ErrorMark() { ERR_pop_to_mark(); }
};

// What the newest error says, for a message: OpenSSL's reason and its detail.
std::string last_error_text() {
  const char* data = nullptr;
  int flags = 0;
  const unsigned long code = ERR_peek_last_error_data(&data, &flags);
  if (code == 0) return "unknown reason";
  std::string text;
  if (ERR_SYSTEM_ERROR(code)) {
    text = std::generic_category().message(ERR_GET_REASON(code));
  } else {
    const char* reason = ERR_reason_error_string(code);
    text = reason == nullptr ? "unknown reason" : reason;
  }
  if ((flags & ERR_TXT_STRING) != 0 && data != nullptr && *data != '\0') {
    text.append(" (").append(data).append(")");
  }
  return text;
}

// After a load that succeeded: an include that failed for another reason than not being there.
std::string unreadable_include() {
  const unsigned long code = ERR_peek_last_error();
  if (code == 0) return {};
  // The file is there (stat(2) said so) and opening it fails; the errno is one error further down,
  // where OpenSSL lets nobody look without taking errors away.
  if (ERR_GET_LIB(code) == ERR_LIB_BIO && ERR_GET_REASON(code) == ERR_R_SYS_LIB) {
    return "it is there but cannot be opened: check its permissions";
  }
  if (!ERR_SYSTEM_ERROR(code) || ERR_GET_REASON(code) == ENOENT) return {};
  return last_error_text();
}

// As OpenSSL does it (crypto/provider_conf.c): a value that names a section stands for it.
class Flattening {
 public:
  Flattening(const CONF* conf, ConfigSection& result) : conf_(conf), result_(result) {}

  void add(const char* section, const std::string& prefix = {}) {
    STACK_OF(CONF_VALUE)* entries = NCONF_get_section(conf_, section);
    way_.push_back(entries);
    for (int i = 0; i < sk_CONF_VALUE_num(entries) && !result_.knot; ++i) {
      const CONF_VALUE& entry = *sk_CONF_VALUE_value(entries, i);
      // OpenSSL lets a name be written "1.name" to keep several apart, in a section's own keys
      // only.
      const std::string key = prefix + entry.name;
      const STACK_OF(CONF_VALUE)* nested = NCONF_get_section(conf_, entry.value);
      if (nested == nullptr) {
        result_.values[key] = entry.value;
      } else if (std::find(way_.begin(), way_.end(), nested) != way_.end()) {
        tie(section, entry, "leads back to a section that it comes from");
      } else if (way_.size() == deepest || ++nested_ > most_nested ||
                 result_.values.size() > most_values) {
        tie(section, entry, "leads to more keys and sections than kaccel follows");
      } else {
        add(entry.value, key + ".");
      }
    }
    way_.pop_back();
  }

 private:
  // kaccel itself has some 250 keys, two sections deep at most.
  static constexpr std::size_t deepest = 9;
  static constexpr std::size_t most_nested = 1000;
  static constexpr std::size_t most_values = 100'000;

  void tie(const char* section, const CONF_VALUE& entry, const char* problem) {
    result_.knot = {section, entry.name, entry.value, problem};
  }

  const CONF* conf_;
  ConfigSection& result_;
  std::vector<const STACK_OF(CONF_VALUE)*> way_;  // sections that are being followed
  std::size_t nested_ = 0;
};

RandomSection random_section(const CONF* conf, const char* main_section) {
  RandomSection result;
  // As OpenSSL reads it: a module's name ends at a dot (conf_mod.c), these keys may be in any
  // letter case (rand_lib.c), and of several the last counts.
  const auto each = [conf](const char* section, auto&& use) {
    STACK_OF(CONF_VALUE)* entries = section != nullptr ? NCONF_get_section(conf, section) : nullptr;
    for (int i = 0; i < sk_CONF_VALUE_num(entries); ++i) {
      use(*sk_CONF_VALUE_value(entries, i));
    }
  };
  const char* name = nullptr;
  each(main_section, [&](const CONF_VALUE& entry) {
    const std::string_view module(entry.name);
    if (module.substr(0, module.find('.')) == "random") name = entry.value;
  });
  each(name, [&](const CONF_VALUE& entry) {
    const auto is = [&](const char* key) { return ::strcasecmp(entry.name, key) == 0; };
    if (is("random")) result.type = entry.value;
    if (is("properties")) result.properties = entry.value;
    if (is("cipher")) result.cipher = entry.value;
    if (is("digest")) result.digest = entry.value;
  });
  return result;
}

}  // namespace

std::string default_config_path() {
  char* path = CONF_get1_default_config_file();
  if (path == nullptr) return {};
  std::string result(path);
  OPENSSL_free(path);
  return result;
}

std::optional<ConfigSection> read_config_section(const std::string& path, std::string& problem) {
  // What can be read only once has been read: a FIFO would wait for ever.
  if (special_kind(path) == nullptr) {
    if (const auto special = find_special_include(path)) {
      problem = special->file + ":" + std::to_string(special->line) + ": includes " +
                special->path + ", which is " + special->kind + " and no file";
      return std::nullopt;
    }
  }
  const ErrorMark mark;
  const ConfPointer conf(NCONF_new(nullptr));
  if (conf == nullptr) {
    problem = "out of memory";
    return std::nullopt;
  }
  // The queue may hold errors already, the same ones even: OpenSSL has just read this file, and
  // activates providers before it drops what that raised. A marker tells ours apart.
  ERR_raise(ERR_LIB_USER, 1);
  const unsigned long before = ERR_peek_last_error();
  long line = 0;
  if (NCONF_load(conf.get(), path.c_str(), &line) <= 0) {
    problem = path + (line > 0 ? ":" + std::to_string(line) : "") + ": " + last_error_text();
    return std::nullopt;
  }
  ConfigSection section;
  if (ERR_peek_last_error() != before) section.unreadable_include = unreadable_include();

  const char* main_section = NCONF_get_string(conf.get(), nullptr, "openssl_conf");
  const char* providers =
      main_section == nullptr ? nullptr : NCONF_get_string(conf.get(), main_section, "providers");
  const char* own =
      providers == nullptr ? nullptr : NCONF_get_string(conf.get(), providers, "kaccel");
  if (own == nullptr || NCONF_get_section(conf.get(), own) == nullptr) {
    problem =
        path + ": no section for a provider named kaccel (openssl_conf -> providers -> kaccel)";
    return std::nullopt;
  }
  Flattening(conf.get(), section).add(own);
  section.random = random_section(conf.get(), main_section);
  return section;
}

}  // namespace kaccel
