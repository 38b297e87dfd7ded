// A configuration file in OpenSSL's own reading.
#pragma once

#include <openssl/conf.h>

#include <memory>
#include <optional>
#include <string>

namespace kaccel::calibrate::doctor {

class OpensslConf {
 public:
  // Reads `path` and what it includes. Where that fails, broken() tells.
  explicit OpensslConf(const std::string& path);
  // Reads a text of the same form.
  static OpensslConf of_text(const std::string& text);

  struct Broken {
    long line;  // 0: the file itself cannot be read
    std::string reason;
  };
  const std::optional<Broken>& broken() const noexcept { return broken_; }

  // Nothing where the section has no such key. The default section is "default".
  std::optional<std::string> value(const std::string& section, const char* key) const;
  bool has_section(const std::string& name) const noexcept;

 private:
  OpensslConf();
  void note_failure(long line);

  struct FreeConf {
    void operator()(CONF* conf) const noexcept { NCONF_free(conf); }
  };
  std::unique_ptr<CONF, FreeConf> conf_;
  std::optional<Broken> broken_;
};

}  // namespace kaccel::calibrate::doctor
