#include "provider/gcm_context.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "provider/cipher_context.hpp"
#include "provider/driver_key.hpp"
#include "provider/find_param.hpp"

namespace kaccel {

using kernel::Direction;

namespace {

bool is_iv_size(const OSSL_PARAM& param) noexcept {
  constexpr std::size_t largest = 128;
  std::size_t size = 0;
  return OSSL_PARAM_get_size_t(&param, &size) == 1 && size != 0 && size <= largest;
}

}  // namespace

// Life ------------------------------------------------------------------------------------------

GcmContext::GcmContext(CipherRoute& route) noexcept : software_(route.software), route_(route) {}

GcmContext::~GcmContext() {
  if (counter_mode_ != nullptr) CipherContext::free(counter_mode_);
  if (record_hash_ != nullptr) software_.freectx(record_hash_);
  if (inner_ != nullptr) software_.freectx(inner_);
  kernel::wipe(hash_key_.data(), hash_key_.size());
}

void* GcmContext::create(CipherRoute& route) noexcept {
  auto* context = new (std::nothrow) GcmContext(route);
  if (context == nullptr) return nullptr;
  context->inner_ = route.software.newctx(route.software_provider_context);
  if (context->inner_ == nullptr) {
    delete context;
    return nullptr;
  }
  return context;
}

void GcmContext::free(void* context) noexcept {
  delete static_cast<GcmContext*>(context);
}

void* GcmContext::duplicate(void* context) noexcept {
  auto& self = *static_cast<GcmContext*>(context);
  auto* copy = new (std::nothrow) GcmContext(self);
  if (copy == nullptr) return nullptr;
  copy->counter_mode_ = nullptr;
  copy->record_hash_ = nullptr;
  copy->record_hash_keyed_ = false;
  copy->inner_ = self.software_.dupctx(self.inner_);
  if (self.counter_mode_ != nullptr) {
    copy->counter_mode_ = CipherContext::duplicate(self.counter_mode_);
  }
  if (copy->inner_ == nullptr ||
      (copy->counter_mode_ == nullptr) != (self.counter_mode_ == nullptr)) {
    delete copy;
    return nullptr;
  }
  return copy;
}

// Init ------------------------------------------------------------------------------------------

// Most inits bring the next message's IV and nothing else. OpenSSL cannot refuse those, so that the
// way ends in a jump to its function.
bool GcmContext::takes_next_iv(Direction direction, const unsigned char* key,
                               const unsigned char* iv, std::size_t iv_size,
                               const OSSL_PARAM params[]) noexcept {
  if (key != nullptr || params != nullptr || iv == nullptr || iv_size != usual_iv_size ||
      static_cast<std::uint8_t>(direction) != next_iv_for_ || stage_ == Stage::tls_record) {
    return false;
  }
  stage_ = Stage::open;
  iv_unused_ = true;
  iv_is_ahead_ = false;
  aad_size_ = 0;
  return true;
}

int GcmContext::encrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                             const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) {
  auto& self = *static_cast<GcmContext*>(context);
  if (self.takes_next_iv(Direction::encrypt, key, iv, iv_size, params)) [[likely]] {
    return self.software_.encrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::encrypt, key, key_size, iv, iv_size, params);
}

int GcmContext::decrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                             const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) {
  auto& self = *static_cast<GcmContext*>(context);
  if (self.takes_next_iv(Direction::decrypt, key, iv, iv_size, params)) [[likely]] {
    return self.software_.decrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::decrypt, key, key_size, iv, iv_size, params);
}

int GcmContext::init(Direction direction, const unsigned char* key, std::size_t key_size,
                     const unsigned char* iv, std::size_t iv_size,
                     const OSSL_PARAM params[]) noexcept {
  const bool turns_to_decryption = direction == Direction::decrypt && encrypted_before_;
  // While inner still tells.
  if (turns_to_decryption) tag_size_ = stage_ == Stage::hardware ? learn_tag() : 0;
  direction_ = direction;
  const auto software_init = is_encrypting() ? software_.encrypt_init : software_.decrypt_init;
  const int ok = software_init(inner_, key, key_size, iv, iv_size, params);
  if (turns_to_decryption) turn_to_decryption(params);
  if (ok != 1) {
    if (params != nullptr) note_refused_params(params);
    init_failed();
    return ok;
  }
  if (is_encrypting()) encrypted_before_ = true;
  if (key != nullptr) {
    remember_key(key, key_size);
    // A new key empties inner's state, but for an IV that waits to be used.
    if (iv == nullptr && !iv_unused_ && stage_ != Stage::tls_record) leave_to_inner();
  }
  if (iv != nullptr) {
    iv_size_ = iv_size;
    new_iv();
    iv_unused_ = true;
  }
  if (params != nullptr) note_params(params);
  set_limit();
  return ok;
}

// Inner may have taken some of it before something failed.
void GcmContext::init_failed() noexcept {
  forget_key();
  abandon_message();
  set_limit();
  next_iv_for_ = no_direction;
}

// What inner makes of its message from now on is not known. In TLS mode it stays.
void GcmContext::abandon_message() noexcept {
  if (stage_ == Stage::hardware) {
    stage_ = Stage::broken;
  } else if (stage_ != Stage::tls_record && stage_ != Stage::broken) {
    leave_to_inner();
  }
  tag_from_encryption_ = true;
}

void GcmContext::remember_key(const unsigned char* key, std::size_t key_size) noexcept {
  const kernel::SecretKey new_key = driver_key(route_, {key, key_size});
  if (key_.equals(new_key.view())) return;  // what was made with it stays
  forget_key();
  key_ = new_key;
}

void GcmContext::forget_key() noexcept {
  key_.clear();
  kernel::wipe(hash_key_.data(), hash_key_.size());
  hash_key_known_ = false;
  counter_mode_keyed_ = false;
  record_hash_keyed_ = false;
}

// A message begins: inner has an IV that nothing was ciphered with.
void GcmContext::new_iv() noexcept {
  // Other lengths are hashed into the first counter block, which inner does not tell.
  if (stage_ != Stage::tls_record) {
    if (iv_size_ == usual_iv_size) {
      stage_ = Stage::open;
    } else {
      leave_to_inner();
    }
  }
  iv_unused_ = false;
  iv_is_ahead_ = false;
  aad_size_ = 0;
}

void GcmContext::leave_to_inner() noexcept {
  stage_ = tag_displaced_ && is_encrypting() ? Stage::old_tag : Stage::inner;
}

// OpenSSL compares with the tag of the last encryption where none is set afterwards.
void GcmContext::turn_to_decryption(const OSSL_PARAM params[]) noexcept {
  encrypted_before_ = false;
  tag_from_encryption_ = true;
  if (!tag_displaced_ && !record_encrypted_) return;
  tag_displaced_ = false;
  record_encrypted_ = false;
  set_inner_tag(tag_, tag_.size());
  const OSSL_PARAM* set =
      params == nullptr ? nullptr : find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG);
  if (set == nullptr) return;
  // The one that came with the init comes after it. What OpenSSL said of it, it has said.
  const OSSL_PARAM again[] = {*set, OSSL_PARAM_construct_end()};
  ERR_set_mark();
  software_.set_ctx_params(inner_, again);
  ERR_pop_to_mark();
}

// A message that is turned round in its middle ends with a comparison, too. Returns the size of the
// tag that it will be compared with, 0 if there never was one.
std::size_t GcmContext::learn_tag() noexcept {
  if (tag_displaced_ || record_encrypted_) return tag_.size();
  std::size_t size = 0;
  GcmBlock tag{};
  // OpenSSL refuses to tell a tag that was neither made nor set.
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag.data(), tag.size()),
      OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, &size),
      OSSL_PARAM_construct_end(),
  };
  ERR_set_mark();
  const bool known = software_.get_ctx_params(inner_, params) == 1;
  ERR_pop_to_mark();
  if (!known) return 0;
  tag_ = tag;
  return size;
}

bool GcmContext::set_inner_tag(GcmBlock tag, std::size_t size) noexcept {
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag.data(), size),
      OSSL_PARAM_construct_end(),
  };
  return software_.set_ctx_params(inner_, params) == 1;
}

void GcmContext::set_limit() noexcept {
  const CipherRoute* text = route_.counter_mode;
  hardware_from_ = key_.empty() || text == nullptr
                       ? SIZE_MAX
                       : smallest_hardware_size(text->threshold(direction_), text->key_size,
                                                text->driver.restrictions);
  next_iv_for_ = iv_size_ == usual_iv_size ? static_cast<std::uint8_t>(direction_) : no_direction;
}

// Parameters --------------------------------------------------------------------------------------

GcmContext::Watched GcmContext::watched(const char* key) noexcept {
  if (key[0] == 'i') {
    return std::strcmp(key, OSSL_CIPHER_PARAM_AEAD_IVLEN) == 0 ? Watched::iv_size : Watched::none;
  }
  if (key[0] != 't') return Watched::none;
  if (std::strcmp(key, OSSL_CIPHER_PARAM_AEAD_TAG) == 0) return Watched::tag;
  if (std::strcmp(key, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD) == 0) return Watched::tls_aad;
  if (std::strcmp(key, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED) == 0) return Watched::iv_fixed;
  if (std::strcmp(key, OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV) == 0) return Watched::iv_invocation;
  return Watched::none;
}

// EVP sets "padding" at each init; what we follow is called "tag", "ivlen" or "tls...". One
// parameter is the usual case, and where OpenSSL cannot refuse it the way ends in a jump. Whatever
// needs a call of its own is elsewhere, so that nothing is saved on the stack here.
int GcmContext::set_params(void* context, const OSSL_PARAM params[]) {
  auto& self = *static_cast<GcmContext*>(context);
  if (params != nullptr && params[0].key != nullptr) {
    const char first = params[0].key[0];
    const bool passes = params[1].key == nullptr &&
                        ((first != 't' && first != 'i') || self.takes_expected_tag(params[0]));
    if (!passes) return self.set_watched_params(params);
  }
  return self.software_.set_ctx_params(self.inner_, params);
}

// The tag of a message to decrypt, whole.
bool GcmContext::takes_expected_tag(const OSSL_PARAM& param) noexcept {
  const char* key = param.key;
  if (key[1] != 'a' || key[2] != 'g' || key[3] != '\0' || is_encrypting() ||
      param.data_size != tag_.size() || param.data_type != OSSL_PARAM_OCTET_STRING ||
      param.data == nullptr) {
    return false;
  }
  std::memcpy(tag_.data(), param.data, tag_.size());
  tag_size_ = tag_.size();
  tag_from_encryption_ = false;
  return true;
}

// The header of a TLS record, of a length that explicit IV and tag fit into.
bool GcmContext::takes_tls_header(const OSSL_PARAM& param) noexcept {
  if (param.key[1] != 'l' || param.data_size != tls_aad_size ||
      param.data_type != OSSL_PARAM_OCTET_STRING || param.data == nullptr ||
      std::strcmp(param.key, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD) != 0) {
    return false;
  }
  const auto* header = static_cast<const std::uint8_t*>(param.data);
  if (header[tls_aad_size - 2] == 0 && header[tls_aad_size - 1] < record_overhead) return false;
  note_tls_aad(param);
  return true;
}

int GcmContext::set_watched_params(const OSSL_PARAM params[]) noexcept {
  if (params[1].key == nullptr && takes_tls_header(params[0])) {
    return software_.set_ctx_params(inner_, params);
  }
  const int ok = software_.set_ctx_params(inner_, params);
  if (ok != 1) {
    note_refused_params(params);
  } else {
    note_params(params);
  }
  return ok;
}

int GcmContext::get_params(void* context, OSSL_PARAM params[]) {
  auto& self = *static_cast<GcmContext*>(context);
  // To ask for "tlsivgen" counts the IV up. One parameter is the usual case.
  const bool may_count_up =
      params != nullptr && params[0].key != nullptr &&
      (params[1].key != nullptr || (params[0].key[0] == 't' && params[0].key[1] == 'l' &&
                                    params[0].key[2] == 's' && params[0].key[3] == 'i'));
  if (self.tag_displaced_ || may_count_up) return self.get_watched_params(params);
  return self.software_.get_ctx_params(self.inner_, params);
}

int GcmContext::get_watched_params(OSSL_PARAM params[]) noexcept {
  const int ok = software_.get_ctx_params(inner_, params);
  if (ok != 1 || params == nullptr) return ok;
  if (tag_displaced_ && is_encrypting()) {
    OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG);
    // Inner has checked the rest.
    if (p != nullptr && p->data != nullptr) std::memcpy(p->data, tag_.data(), p->data_size);
  }
  if (find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN) != nullptr) {
    new_iv();
    iv_is_ahead_ = true;
  }
  return ok;
}

// One is the usual case. OpenSSL takes several in an order of its own.
void GcmContext::note_params(const OSSL_PARAM params[]) noexcept {
  if (params[0].key == nullptr) return;
  if (params[1].key == nullptr) return note_param(watched(params[0].key), params[0]);
  constexpr std::array in_order{
      std::pair{OSSL_CIPHER_PARAM_AEAD_TAG, Watched::tag},
      std::pair{OSSL_CIPHER_PARAM_AEAD_IVLEN, Watched::iv_size},
      std::pair{OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, Watched::tls_aad},
      std::pair{OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, Watched::iv_fixed},
      std::pair{OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV, Watched::iv_invocation},
  };
  for (const auto& [key, which] : in_order) {
    if (const OSSL_PARAM* p = find_param(params, key)) note_param(which, *p);
  }
}

void GcmContext::note_param(Watched which, const OSSL_PARAM& param) noexcept {
  switch (which) {
    case Watched::none:
      break;
    case Watched::tag:
      note_tag(param);
      break;
    case Watched::iv_size:
      note_iv_size(param);
      break;
    case Watched::tls_aad:
      note_tls_aad(param);
      break;
    case Watched::iv_fixed:
      new_iv();
      iv_unused_ = true;
      break;
    case Watched::iv_invocation:
      new_iv();
      break;
  }
}

void GcmContext::note_iv_size(const OSSL_PARAM& param) noexcept {
  std::size_t size = 0;
  if (OSSL_PARAM_get_size_t(&param, &size) != 1 || size == iv_size_) return;
  iv_size_ = size;
  next_iv_for_ = no_direction;  // until the next whole init
  // It takes back an IV that was set.
  iv_unused_ = false;
  if (stage_ != Stage::tls_record) leave_to_inner();
}

// Setting stopped somewhere. OpenSSL takes the tag first, then the IV's length, then TLS's AAD.
void GcmContext::note_refused_params(const OSSL_PARAM params[]) noexcept {
  const bool single = params[0].key != nullptr && params[1].key == nullptr;
  const OSSL_PARAM* tag = find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG);
  const OSSL_PARAM* iv_size = find_param(params, OSSL_CIPHER_PARAM_AEAD_IVLEN);
  const OSSL_PARAM* aad = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD);
  bool goes_on = tag == nullptr || note_tag(*tag);
  if (goes_on && iv_size != nullptr) {
    goes_on = is_iv_size(*iv_size);
    if (goes_on) note_iv_size(*iv_size);
  }
  if (goes_on && aad != nullptr && aad->data_type == OSSL_PARAM_OCTET_STRING &&
      aad->data_size == tls_aad_size) {
    note_tls_aad(*aad);
  } else if (!single) {
    abandon_message();
  }
}

// Whether OpenSSL takes it. It copies the bytes before it refuses one.
bool GcmContext::note_tag(const OSSL_PARAM& param) noexcept {
  if (param.data_type != OSSL_PARAM_OCTET_STRING || param.data == nullptr ||
      param.data_size > tag_.size()) {
    return false;
  }
  std::memcpy(tag_.data(), param.data, param.data_size);
  if (param.data_size == 0 || is_encrypting()) return false;
  tag_size_ = param.data_size;
  tag_from_encryption_ = false;
  return true;
}

// The record's header (RFC 5246, 6.2.3.3): in it the length counts explicit IV and tag too. OpenSSL
// keeps it in its tag buffer, where a tag that is set overwrites it, and is in TLS mode before it
// looks at the length.
void GcmContext::note_tls_aad(const OSSL_PARAM& param) noexcept {
  std::memcpy(tag_.data(), param.data, tls_aad_size);
  std::uint8_t& high = tag_[tls_aad_size - 2];
  std::uint8_t& low = tag_[tls_aad_size - 1];
  const unsigned length = (unsigned{high} << 8) + low;
  const unsigned overhead = is_encrypting() ? explicit_iv_size : record_overhead;
  stage_ = Stage::tls_record;
  tag_from_encryption_ = true;
  tls_aad_taken_ = length >= overhead;
  if (!tls_aad_taken_) return;
  high = static_cast<std::uint8_t>((length - overhead) >> 8);
  low = static_cast<std::uint8_t>(length - overhead);
}

}  // namespace kaccel
