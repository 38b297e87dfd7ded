// GcmContext: TLS 1.2's records (RFC 5288), where one call ciphers explicit IV, text and tag in
// place.
//
// Inner stays in charge of the IV: it counts it up and knows when it must not be used. GHASH runs
// in a context of its own, since inner in TLS mode takes a record as a whole.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include <cstring>

#include "provider/gcm_context.hpp"

namespace kaccel {

int GcmContext::tls_record(Call call, const Data& data) noexcept {
  const bool ordinary = data.in == data.out && data.in_size >= record_overhead;
  const std::size_t text_size = ordinary ? data.in_size - record_overhead : 0;
  stage_ = Stage::inner;  // whatever becomes of the record, it takes a new IV to go on
  iv_unused_ = false;
  tag_from_encryption_ = true;
  if (!ordinary || !tls_aad_taken_ || iv_size_ != usual_iv_size || !goes_to_hardware(text_size) ||
      !set_up_hash_key()) {
    return inner_call(call, data);
  }
  const bool ok = hardware_record(data.out, text_size);
  // Ends the record for inner too, with a refusal that nobody sees.
  std::size_t nothing = 0;
  software_.final(inner_, nullptr, &nothing, 0);
  if (!ok) return refuse(call, data);
  *data.out_size = call == Call::cipher || is_encrypting() ? data.in_size : text_size;
  return 1;
}

bool GcmContext::hardware_record(unsigned char* record, std::size_t text_size) noexcept {
  GcmBlock iv{};
  if (!take_record_iv(record, iv) || !start_record_hash(iv)) return false;
  note_record_tag();
  unsigned char* text = record + explicit_iv_size;
  return is_encrypting() ? encrypt_record(text, text_size, iv)
                         : decrypt_record(text, text_size, iv);
}

// OpenSSL goes on with the record's header for a tag of 16 bytes.
void GcmContext::note_record_tag() noexcept {
  if (is_encrypting()) {
    record_encrypted_ = true;
  } else if (tag_size_ != tag_.size()) {
    tag_size_ = tag_.size();
    set_inner_tag(tag_, tag_.size());
  }
}

bool GcmContext::encrypt_record(unsigned char* text, std::size_t text_size,
                                const GcmBlock& iv) noexcept {
  GcmBlock tag{};
  if (!set_up_counter_mode(iv) || !move_text(record_hash_, text, text, text_size) ||
      !finish_record_hash(text_size, tag)) {
    return false;
  }
  std::memcpy(text + text_size, tag.data(), tag.size());
  return true;
}

// The tag is known to be right before anything is deciphered.
bool GcmContext::decrypt_record(unsigned char* text, std::size_t text_size,
                                const GcmBlock& iv) noexcept {
  GcmBlock tag{};
  if (!hash_bytes(record_hash_, text, text_size) || !finish_record_hash(text_size, tag)) {
    return false;
  }
  if (CRYPTO_memcmp(tag.data(), text + text_size, tag.size()) != 0) {
    OPENSSL_cleanse(text, text_size);
    return false;
  }
  return set_up_counter_mode(iv) && cipher_text(text, text, text_size);
}

// The record's IV, with its explicit part written (encryption) or read (decryption).
bool GcmContext::take_record_iv(unsigned char* explicit_iv, GcmBlock& iv) noexcept {
  OSSL_PARAM whole = OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_IV, iv.data(), iv.size());
  if (is_encrypting()) {
    // Inner answers in this order: the IV first, then it counts it up.
    OSSL_PARAM params[] = {
        whole,
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN, explicit_iv,
                                          explicit_iv_size),
        OSSL_PARAM_construct_end(),
    };
    return software_.get_ctx_params(inner_, params) == 1;
  }
  const OSSL_PARAM invocation[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV, explicit_iv,
                                        explicit_iv_size),
      OSSL_PARAM_construct_end(),
  };
  OSSL_PARAM params[] = {whole, OSSL_PARAM_construct_end()};
  return software_.set_ctx_params(inner_, invocation) == 1 &&
         software_.get_ctx_params(inner_, params) == 1;
}

bool GcmContext::start_record_hash(const GcmBlock& iv) noexcept {
  if (record_hash_ == nullptr) {
    record_hash_ = software_.newctx(route_.software_provider_context);
    if (record_hash_ == nullptr) return false;
  }
  const auto key = key_.view();
  if (software_.encrypt_init(record_hash_, record_hash_keyed_ ? nullptr : key.data(), key.size(),
                             iv.data(), iv_size_, nullptr) != 1) {
    return false;
  }
  record_hash_keyed_ = true;
  return hash_bytes(record_hash_, tag_.data(), tls_aad_size) &&
         hash_padding(record_hash_, tls_aad_size);
}

bool GcmContext::finish_record_hash(std::size_t text_size, GcmBlock& tag) noexcept {
  std::size_t nothing = 0;
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag.data(), tag.size()),
      OSSL_PARAM_construct_end(),
  };
  if (!hash_padding(record_hash_, text_size) ||
      software_.final(record_hash_, nullptr, &nothing, 0) != 1 ||
      software_.get_ctx_params(record_hash_, params) != 1) {
    return false;
  }
  tag = sum(tag, gcm_length_correction(hash_key_, tls_aad_size, text_size));
  return true;
}

}  // namespace kaccel
