// GcmContext: AAD, data and tag of a message.
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <cstring>

#include "provider/cipher_context.hpp"
#include "provider/gcm_context.hpp"

namespace kaccel {
namespace {

constexpr std::size_t block_size = 16;
// NIST SP 800-38D, 5.2.1.1: the 32-bit counter would come round.
constexpr std::uint64_t longest_text = (std::uint64_t{1} << 36) - 32;

// The IV of a message whose invocation field inner has counted up already.
void count_down(GcmBlock& iv, std::size_t iv_size) noexcept {
  for (std::size_t i = iv_size; i-- > iv_size - 8;) {
    if (iv[i]-- != 0) return;
  }
}

}  // namespace

// The calls of a message that ends up in software, in as few instructions as can be: GCM messages
// are often short. What OpenSSL could refuse takes the other way, so that the call can end in a
// jump.
bool GcmContext::stays_in_software(const unsigned char* out, std::size_t out_capacity,
                                   const unsigned char* in, std::size_t in_size) noexcept {
  if (stage_ == Stage::inner) return true;
  if (tag_displaced_) return false;
  if (stage_ == Stage::open) {
    if (out == nullptr) {
      if (in == nullptr || out_capacity < in_size) return false;
      aad_size_ += in_size;
      iv_unused_ = false;
    } else {
      if (in_size >= hardware_from_) return false;
      stage_ = Stage::inner;
    }
    return true;
  }
  if (stage_ == Stage::tls_record) {
    const bool may_be_hardwares =
        in_size >= record_overhead && in_size - record_overhead >= hardware_from_;
    if (may_be_hardwares || in_size == 0 || out_capacity < in_size) return false;
    stage_ = Stage::inner;
    return true;
  }
  return false;
}

int GcmContext::update(void* context, unsigned char* out, std::size_t* out_size,
                       std::size_t out_capacity, const unsigned char* in, std::size_t in_size) {
  auto& self = *static_cast<GcmContext*>(context);
  if (self.stays_in_software(out, out_capacity, in, in_size)) [[likely]] {
    return self.software_.update(self.inner_, out, out_size, out_capacity, in, in_size);
  }
  return self.watched_call(Call::update, {out, out_size, out_capacity, in, in_size});
}

// EVP_Cipher(): the same, but data of no bytes counts, and a refusal raises no error.
int GcmContext::cipher(void* context, unsigned char* out, std::size_t* out_size,
                       std::size_t out_capacity, const unsigned char* in, std::size_t in_size) {
  auto& self = *static_cast<GcmContext*>(context);
  if (self.stays_in_software(out, out_capacity, in, in_size)) [[likely]] {
    return self.software_.cipher(self.inner_, out, out_size, out_capacity, in, in_size);
  }
  return self.watched_call(Call::cipher, {out, out_size, out_capacity, in, in_size});
}

int GcmContext::final(void* context, unsigned char* out, std::size_t* out_size,
                      std::size_t out_capacity) {
  auto& self = *static_cast<GcmContext*>(context);
  if (self.stage_ == Stage::inner && !self.tag_displaced_) [[likely]] {
    return self.software_.final(self.inner_, out, out_size, out_capacity);
  }
  return self.watched_final(out, out_size, out_capacity);
}

int GcmContext::watched_final(unsigned char* out, std::size_t* out_size,
                              std::size_t out_capacity) noexcept {
  if (stage_ == Stage::hardware) {
    *out_size = 0;
    return finish_hardware();
  }
  if (stage_ == Stage::broken) return 0;
  stage_ = Stage::inner;
  const int ok = software_.final(inner_, out, out_size, out_capacity);
  if (ok == 1) {
    tag_displaced_ = false;
  } else {
    leave_to_inner();
  }
  return ok;
}

int GcmContext::inner_call(Call call, const Data& data) noexcept {
  const auto function = call == Call::update ? software_.update : software_.cipher;
  const int ok =
      function(inner_, data.out, data.out_size, data.out_capacity, data.in, data.in_size);
  const bool is_nothing = call == Call::update && data.in_size == 0;
  const bool ends_message = data.in == nullptr && !is_nothing && stage_ == Stage::old_tag;
  if (ok == 1 && ends_message) {
    tag_displaced_ = false;
    stage_ = Stage::inner;
  }
  return ok;
}

int GcmContext::watched_call(Call call, const Data& data) noexcept {
  if (stage_ == Stage::broken) return refuse(call, data);
  // Neither leaves anything behind: the one is answered before OpenSSL looks, the other refused.
  const bool is_nothing = call == Call::update && data.in_size == 0;
  if (is_nothing || data.out_capacity < data.in_size) return inner_call(call, data);
  switch (stage_) {
    case Stage::open:
      return open_message(call, data);
    case Stage::tls_record:
      return tls_record(call, data);
    case Stage::old_tag:
      return inner_call(call, data);
    default:
      return hardware_message(call, data);
  }
}

// As OpenSSL's functions refuse.
int GcmContext::refuse(Call call, const Data& data) const noexcept {
  *data.out_size = 0;
  if (call == Call::update) ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
  return 0;
}

int GcmContext::open_message(Call call, const Data& data) noexcept {
  const bool is_aad = data.out == nullptr && data.in != nullptr;
  const bool is_text = data.out != nullptr && data.in != nullptr;
  iv_unused_ = false;
  if (is_text && goes_to_hardware(data.in_size) && begin_hardware()) {
    stage_ = Stage::hardware;
    text_size_ = 0;
    return hardware_message(call, data);
  }
  if (!is_aad) {
    leave_to_inner();
    return inner_call(call, data);
  }
  const int ok = inner_call(call, data);
  if (ok == 1) {
    aad_size_ += data.in_size;
  } else {
    leave_to_inner();
  }
  return ok;
}

int GcmContext::hardware_message(Call call, const Data& data) noexcept {
  if (data.in == nullptr) {  // the message's end
    if (finish_hardware() != 1) return refuse(call, data);
    *data.out_size = call == Call::update ? 0 : data.in_size;
    return 1;
  }
  const bool is_late_aad = data.out == nullptr;
  if (is_late_aad || data.in_size > longest_text - text_size_) return refuse(call, data);
  if (!move_text(inner_, data.out, data.in, data.in_size)) {
    stage_ = Stage::broken;
    return refuse(call, data);
  }
  text_size_ += data.in_size;
  *data.out_size = data.in_size;
  return 1;
}

bool GcmContext::goes_to_hardware(std::size_t size) const noexcept {
  const std::size_t whole_blocks = size - size % block_size;
  return whole_blocks >= hardware_from_ && !route_.counter_mode->driver.health.is_out() &&
         permits_size(route_.counter_mode->driver.restrictions, whole_blocks);
}

// Everything that may fail comes before inner's state is touched.
bool GcmContext::begin_hardware() noexcept {
  if (!is_encrypting() && tag_from_encryption_) return false;
  GcmBlock iv{};
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_IV, iv.data(), iv.size()),
      OSSL_PARAM_construct_end(),
  };
  if (software_.get_ctx_params(inner_, params) != 1) return false;
  if (iv_is_ahead_) count_down(iv, iv_size_);
  return set_up_hash_key() && set_up_counter_mode(iv) && hash_padding(inner_, aad_size_);
}

bool GcmContext::cipher_text(unsigned char* out, const unsigned char* in,
                             std::size_t size) noexcept {
  std::size_t written = 0;
  return CipherContext::update(counter_mode_, out, &written, size, in, size) == 1;
}

// The hash is over the ciphertext, which decryption in place overwrites.
bool GcmContext::move_text(void* hash, unsigned char* out, const unsigned char* in,
                           std::size_t size) noexcept {
  return is_encrypting() ? cipher_text(out, in, size) && hash_bytes(hash, out, size)
                         : hash_bytes(hash, in, size) && cipher_text(out, in, size);
}

int GcmContext::finish_hardware() noexcept {
  // It may still come.
  if (!is_encrypting() && tag_size_ == 0) return 0;
  if (!hash_padding(inner_, text_size_)) {
    stage_ = Stage::broken;
    return 0;
  }
  const GcmBlock correction = gcm_length_correction(hash_key_, aad_size_, text_size_);
  const int ok = is_encrypting() ? finish_encryption(correction) : finish_decryption(correction);
  // OpenSSL would go on deciphering after a wrong tag. Inner has not seen the text and cannot.
  stage_ = ok == 1 ? Stage::inner : Stage::broken;
  return ok;
}

int GcmContext::finish_encryption(const GcmBlock& correction) noexcept {
  std::size_t nothing = 0;
  GcmBlock uncorrected{};
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, uncorrected.data(),
                                        uncorrected.size()),
      OSSL_PARAM_construct_end(),
  };
  if (software_.final(inner_, nullptr, &nothing, 0) != 1 ||
      software_.get_ctx_params(inner_, params) != 1) {
    return 0;
  }
  tag_ = sum(uncorrected, correction);
  tag_displaced_ = true;
  return 1;
}

// Inner compares: the correction goes onto the expected tag, and off it again.
int GcmContext::finish_decryption(const GcmBlock& correction) noexcept {
  std::size_t nothing = 0;
  const int ok = set_inner_tag(sum(tag_, correction), tag_size_)
                     ? software_.final(inner_, nullptr, &nothing, 0)
                     : 0;
  set_inner_tag(tag_, tag_size_);
  return ok;
}

// From the counter after the first one, which ciphers the tag (NIST SP 800-38D, 7.1).
bool GcmContext::set_up_counter_mode(const GcmBlock& iv) noexcept {
  if (counter_mode_ == nullptr) {
    counter_mode_ = CipherContext::create(*route_.counter_mode);
    if (counter_mode_ == nullptr) return false;
  }
  GcmBlock counter{};
  std::copy_n(iv.begin(), iv_size_, counter.begin());
  counter.back() = 2;
  const auto key = key_.view();
  const auto init = is_encrypting() ? CipherContext::encrypt_init : CipherContext::decrypt_init;
  if (init(counter_mode_, counter_mode_keyed_ ? nullptr : key.data(), key.size(), counter.data(),
           counter.size(), nullptr) != 1) {
    return false;
  }
  counter_mode_keyed_ = true;
  return true;
}

// H is the zero block, encrypted: CTR of zeros from counter zero.
bool GcmContext::set_up_hash_key() noexcept {
  if (hash_key_known_) return true;
  const CipherRoute& route = *route_.counter_mode;
  void* once = route.software.newctx(route.software_provider_context);
  if (once == nullptr) return false;
  constexpr GcmBlock zero{};
  std::size_t written = 0;
  hash_key_known_ = route.software.encrypt_init(once, key_.view().data(), key_.view().size(),
                                                zero.data(), zero.size(), nullptr) == 1 &&
                    route.software.update(once, hash_key_.data(), &written, hash_key_.size(),
                                          zero.data(), zero.size()) == 1;
  route.software.freectx(once);
  return hash_key_known_;
}

bool GcmContext::hash_bytes(void* hash, const unsigned char* bytes, std::size_t size) noexcept {
  std::size_t taken = 0;
  return size == 0 || software_.update(hash, nullptr, &taken, size, bytes, size) == 1;
}

bool GcmContext::hash_padding(void* hash, std::uint64_t size) noexcept {
  constexpr GcmBlock zero{};
  const auto rest = static_cast<std::size_t>(size % block_size);
  return rest == 0 || hash_bytes(hash, zero.data(), block_size - rest);
}

}  // namespace kaccel
