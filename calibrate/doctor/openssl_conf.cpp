#include "calibrate/doctor/openssl_conf.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <new>
#include <system_error>

namespace kaccel::calibrate::doctor {
namespace {

// The oldest error that came while reading: the cause.
std::string take_reason() {
  const unsigned long code = ERR_peek_error();
  std::string text = "unknown reason";
  if (code != 0 && ERR_SYSTEM_ERROR(code)) {
    text = std::generic_category().message(ERR_GET_REASON(code));
  } else if (code != 0) {
    if (const char* reason = ERR_reason_error_string(code)) text = reason;
  }
  ERR_clear_error();
  return text;
}

}  // namespace

OpensslConf::OpensslConf() : conf_(NCONF_new(nullptr)) {
  if (!conf_) throw std::bad_alloc();
  ERR_clear_error();
}

OpensslConf::OpensslConf(const std::string& path) : OpensslConf() {
  long line = 0;
  if (NCONF_load(conf_.get(), path.c_str(), &line) <= 0) note_failure(line);
  ERR_clear_error();
}

OpensslConf OpensslConf::of_text(const std::string& text) {
  OpensslConf result;
  BIO* bio = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  if (bio == nullptr) throw std::bad_alloc();
  long line = 0;
  if (NCONF_load_bio(result.conf_.get(), bio, &line) <= 0) result.note_failure(line);
  BIO_free(bio);
  ERR_clear_error();
  return result;
}

void OpensslConf::note_failure(long line) {
  broken_ = Broken{line > 0 ? line : 0, take_reason()};
}

std::optional<std::string> OpensslConf::value(const std::string& section, const char* key) const {
  if (broken_) return std::nullopt;
  // Asked for another section, OpenSSL would look in the default one as well.
  if (section != "default" && !has_section(section)) return std::nullopt;
  const char* found = NCONF_get_string(conf_.get(), section.c_str(), key);
  const bool is_other_sections =
      section != "default" && found == NCONF_get_string(conf_.get(), "default", key);
  ERR_clear_error();
  if (found == nullptr || is_other_sections) return std::nullopt;
  return found;
}

bool OpensslConf::has_section(const std::string& name) const noexcept {
  if (broken_) return false;
  const bool found = NCONF_get_section(conf_.get(), name.c_str()) != nullptr;
  ERR_clear_error();
  return found;
}

}  // namespace kaccel::calibrate::doctor
