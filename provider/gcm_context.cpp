#include "provider/gcm_context.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "provider/cipher_context.hpp"
#include "provider/driver_key.hpp"
#include "provider/find_param.hpp"

namespace kaccel {

using kernel::Direction;

namespace {

constexpr std::size_t usual_iv_size = 12;
// TLS 1.2: the record carries 8 bytes of the IV and a tag of 16 (RFC 5288, 3).
constexpr unsigned explicit_iv_size = 8;
constexpr unsigned tls_tag_size = 16;

}  // namespace

// Life ------------------------------------------------------------------------------------------

GcmContext::GcmContext(CipherRoute& route) noexcept
    : software_update_(route.software.update),
      software_cipher_(route.software.cipher),
      route_(route) {}

GcmContext::~GcmContext() {
  if (counter_mode_ != nullptr) CipherContext::free(counter_mode_);
  if (record_hash_ != nullptr) route_.software.freectx(record_hash_);
  if (inner_ != nullptr) route_.software.freectx(inner_);
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
  copy->inner_ = self.route_.software.dupctx(self.inner_);
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
      iv_size_ != usual_iv_size || direction != direction_ || !was_inited_ ||
      stage_ == Stage::tls_record) {
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
    return self.route_.software.encrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::encrypt, key, key_size, iv, iv_size, params);
}

int GcmContext::decrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                             const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) {
  auto& self = *static_cast<GcmContext*>(context);
  if (self.takes_next_iv(Direction::decrypt, key, iv, iv_size, params)) [[likely]] {
    return self.route_.software.decrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::decrypt, key, key_size, iv, iv_size, params);
}

int GcmContext::init(Direction direction, const unsigned char* key, std::size_t key_size,
                     const unsigned char* iv, std::size_t iv_size,
                     const OSSL_PARAM params[]) noexcept {
  direction_ = direction;
  const auto software_init =
      is_encrypting() ? route_.software.encrypt_init : route_.software.decrypt_init;
  const int ok = software_init(inner_, key, key_size, iv, iv_size, params);
  if (ok != 1) {
    if (params != nullptr) note_refused_params(params);
    init_failed();
    return ok;
  }
  was_inited_ = true;
  if (is_encrypting()) {
    encrypted_before_ = true;
  } else if (encrypted_before_) {
    turn_to_decryption(params);
  }
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
  was_inited_ = false;
  forget_key();
  abandon_message();
  set_limit();
}

// What inner makes of its message from now on is not known. In TLS mode it stays.
void GcmContext::abandon_message() noexcept {
  if (stage_ == Stage::hardware) {
    stage_ = Stage::broken;
  } else if (stage_ != Stage::tls_record) {
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
  tag_size_ = 0;
  tag_from_encryption_ = true;
  if (!tag_displaced_) return;
  tag_displaced_ = false;
  const bool tag_was_set =
      params != nullptr && find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG) != nullptr;
  if (tag_was_set) return;
  const OSSL_PARAM tag[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag_.data(), tag_.size()),
      OSSL_PARAM_construct_end(),
  };
  route_.software.set_ctx_params(inner_, tag);
}

void GcmContext::set_limit() noexcept {
  const CipherRoute* text = route_.counter_mode;
  hardware_from_ = key_.empty() || text == nullptr
                       ? SIZE_MAX
                       : smallest_hardware_size(text->threshold(direction_), text->key_size,
                                                text->driver.restrictions);
}

// Parameters --------------------------------------------------------------------------------------

// EVP sets "padding" at each init; what we follow is called "tag", "ivlen" or "tls...".
int GcmContext::set_params(void* context, const OSSL_PARAM params[]) {
  auto& self = *static_cast<GcmContext*>(context);
  for (const OSSL_PARAM* p = params; p != nullptr && p->key != nullptr; ++p) {
    if (p->key[0] == 't' || p->key[0] == 'i') return self.set_watched_params(params);
  }
  return self.route_.software.set_ctx_params(self.inner_, params);
}

int GcmContext::set_watched_params(const OSSL_PARAM params[]) noexcept {
  const int ok = route_.software.set_ctx_params(inner_, params);
  if (ok == 1) {
    note_params(params);
  } else {
    note_refused_params(params);
  }
  set_limit();
  return ok;
}

int GcmContext::get_params(void* context, OSSL_PARAM params[]) {
  auto& self = *static_cast<GcmContext*>(context);
  if (self.tag_displaced_) return self.get_watched_params(params);
  // To ask for "tlsivgen" counts the IV up.
  for (const OSSL_PARAM* p = params; p->key != nullptr; ++p) {
    if (p->key[0] == 't' && p->key[1] == 'l') return self.get_watched_params(params);
  }
  return self.route_.software.get_ctx_params(self.inner_, params);
}

int GcmContext::get_watched_params(OSSL_PARAM params[]) noexcept {
  const int ok = route_.software.get_ctx_params(inner_, params);
  if (ok != 1) return ok;
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

// In the order in which OpenSSL takes them.
void GcmContext::note_params(const OSSL_PARAM params[]) noexcept {
  if (const OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG)) {
    note_tag(*p, true);
  }
  if (const OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_AEAD_IVLEN)) {
    std::size_t size = 0;
    if (OSSL_PARAM_get_size_t(p, &size) == 1 && size != iv_size_) {
      iv_size_ = size;
      // It takes back an IV that was set.
      iv_unused_ = false;
      if (stage_ != Stage::tls_record) leave_to_inner();
    }
  }
  if (const OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD)) {
    note_tls_aad(*p);
    stage_ = Stage::tls_record;
    tls_aad_taken_ = true;
  }
  if (find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED) != nullptr) {
    new_iv();
    iv_unused_ = true;
  }
  if (find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV) != nullptr) {
    new_iv();
  }
}

// Setting stopped somewhere. Of a single parameter it is known what it left behind.
void GcmContext::note_refused_params(const OSSL_PARAM params[]) noexcept {
  const bool single = params[0].key != nullptr && params[1].key == nullptr;
  if (const OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_AEAD_TAG)) {
    note_tag(*p, false);
  }
  const OSSL_PARAM* aad = find_param(params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD);
  if (aad != nullptr && aad->data_size == tls_aad_size) {
    stage_ = Stage::tls_record;  // OpenSSL looks at the length field when it is in TLS mode already
    tls_aad_taken_ = false;
  } else if (!single) {
    abandon_message();
  }
}

// OpenSSL copies the bytes before it refuses a tag.
void GcmContext::note_tag(const OSSL_PARAM& param, bool taken) noexcept {
  if (param.data_type != OSSL_PARAM_OCTET_STRING || param.data == nullptr ||
      param.data_size > tag_.size()) {
    return;
  }
  std::memcpy(tag_.data(), param.data, param.data_size);
  if (!taken || is_encrypting()) return;
  tag_size_ = param.data_size;
  tag_from_encryption_ = false;
}

// The record's header (RFC 5246, 6.2.3.3): in it the length counts explicit IV and tag too. OpenSSL
// keeps it in its tag buffer, where a tag that is set overwrites it.
void GcmContext::note_tls_aad(const OSSL_PARAM& param) noexcept {
  std::memcpy(tag_.data(), param.data, tls_aad_size);
  std::uint8_t& high = tag_[tls_aad_size - 2];
  std::uint8_t& low = tag_[tls_aad_size - 1];
  const unsigned length = (unsigned{high} << 8) + low;
  const unsigned text = length - explicit_iv_size - (is_encrypting() ? 0U : tls_tag_size);
  high = static_cast<std::uint8_t>(text >> 8);
  low = static_cast<std::uint8_t>(text);
}

}  // namespace kaccel
