// One AES-GCM operation of an algorithm that has a hardware route: the driver does CTR, OpenSSL
// GHASH (DESIGN 5).
//
// OpenSSL's context ("inner") keeps all of GCM's state: key, IV and how far it is used, AAD, the
// expected tag. A message whose first data is within the threshold is inner's alone. With more,
// the message is hardware's: its data goes through a CTR context, which routes each update as an
// AES-CTR of its own and so copes with every chunking and failure, and its ciphertext is fed to
// inner as AAD. What inner then takes for the tag differs from the right one by a term that depends
// on the lengths (gcm_length_correction.hpp).
#pragma once

#include <openssl/core_dispatch.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernel-bridge/secret.hpp"
#include "provider/cipher_route.hpp"
#include "provider/gcm_length_correction.hpp"

namespace kaccel {

class GcmContext {
 public:
  // The dispatch functions, with OpenSSL's contract (provider-cipher(7)). Some are not noexcept, so
  // that they can end in a jump (see CipherContext).
  static void* create(CipherRoute& route) noexcept;
  static void free(void* context) noexcept;
  static void* duplicate(void* context) noexcept;
  static int encrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                          const unsigned char* iv, std::size_t iv_size, const OSSL_PARAM params[]);
  static int decrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                          const unsigned char* iv, std::size_t iv_size, const OSSL_PARAM params[]);
  static int update(void* context, unsigned char* out, std::size_t* out_size,
                    std::size_t out_capacity, const unsigned char* in, std::size_t in_size);
  static int cipher(void* context, unsigned char* out, std::size_t* out_size,
                    std::size_t out_capacity, const unsigned char* in, std::size_t in_size);
  static int final(void* context, unsigned char* out, std::size_t* out_size,
                   std::size_t out_capacity);
  static int get_params(void* context, OSSL_PARAM params[]);
  static int set_params(void* context, const OSSL_PARAM params[]);

 private:
  static constexpr std::size_t tls_aad_size = 13;
  static constexpr std::uint8_t no_direction = 2;
  static constexpr std::size_t usual_iv_size = 12;
  // TLS 1.2: the record carries 8 bytes of the IV and a tag of 16 (RFC 5288, 3).
  static constexpr unsigned explicit_iv_size = 8;
  static constexpr unsigned record_overhead = explicit_iv_size + 16;

  // Where the message is.
  enum class Stage : std::uint8_t {
    inner,       // inner's, whatever comes: within the threshold, or not for us to follow
    old_tag,     // the same, but until it ends the last message's tag is not inner's to tell
    open,        // IV and perhaps AAD are there, data is not
    hardware,    // data went to the CTR context
    tls_record,  // inner takes the next data for a whole TLS 1.2 record (RFC 5288)
    broken,      // a refusal that inner knows nothing of: nothing more comes out until an IV does
  };
  enum class Call : std::uint8_t { update, cipher };
  // The parameters that change how a message goes on.
  enum class Watched : std::uint8_t { none, tag, iv_size, tls_aad, iv_fixed, iv_invocation };

  // One call's data as the dispatch functions get it.
  struct Data {
    unsigned char* out;
    std::size_t* out_size;
    std::size_t out_capacity;
    const unsigned char* in;
    std::size_t in_size;
  };

  explicit GcmContext(CipherRoute& route) noexcept;
  GcmContext(const GcmContext&) = default;
  GcmContext& operator=(const GcmContext&) = delete;
  ~GcmContext();

  bool is_encrypting() const noexcept { return direction_ == kernel::Direction::encrypt; }

  // gcm_context.cpp: life, init, parameters.
  [[gnu::noinline]] int init(kernel::Direction direction, const unsigned char* key,
                             std::size_t key_size, const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) noexcept;
  bool takes_next_iv(kernel::Direction direction, const unsigned char* key, const unsigned char* iv,
                     std::size_t iv_size, const OSSL_PARAM params[]) noexcept;
  void init_failed() noexcept;
  void abandon_message() noexcept;
  void remember_key(const unsigned char* key, std::size_t key_size) noexcept;
  void forget_key() noexcept;
  void new_iv() noexcept;
  void leave_to_inner() noexcept;
  std::size_t learn_tag() noexcept;
  void turn_to_decryption(const OSSL_PARAM params[]) noexcept;
  void set_limit() noexcept;
  [[gnu::noinline]] int set_watched_params(const OSSL_PARAM params[]) noexcept;
  [[gnu::noinline]] int get_watched_params(OSSL_PARAM params[]) noexcept;
  bool takes_expected_tag(const OSSL_PARAM& param) noexcept;
  bool takes_tls_header(const OSSL_PARAM& param) noexcept;
  static Watched watched(const char* key) noexcept;
  void note_params(const OSSL_PARAM params[]) noexcept;
  void note_param(Watched which, const OSSL_PARAM& param) noexcept;
  void note_iv_size(const OSSL_PARAM& param) noexcept;
  void note_refused_params(const OSSL_PARAM params[]) noexcept;
  bool note_tag(const OSSL_PARAM& param) noexcept;
  void note_tls_aad(const OSSL_PARAM& param) noexcept;
  bool set_inner_tag(GcmBlock tag, std::size_t size) noexcept;

  // gcm_message.cpp: AAD, data and tag of a message.
  bool stays_in_software(const unsigned char* out, std::size_t out_capacity,
                         const unsigned char* in, std::size_t in_size) noexcept;
  int inner_call(Call call, const Data& data) noexcept;
  [[gnu::noinline]] int watched_call(Call call, const Data& data) noexcept;
  [[gnu::noinline]] int watched_final(unsigned char* out, std::size_t* out_size,
                                      std::size_t out_capacity) noexcept;
  int refuse(Call call, const Data& data) const noexcept;
  int open_message(Call call, const Data& data) noexcept;
  int hardware_message(Call call, const Data& data) noexcept;
  bool goes_to_hardware(std::size_t size) const noexcept;
  bool begin_hardware() noexcept;
  bool cipher_text(unsigned char* out, const unsigned char* in, std::size_t size) noexcept;
  bool move_text(void* hash, unsigned char* out, const unsigned char* in,
                 std::size_t size) noexcept;
  int finish_hardware() noexcept;
  int finish_encryption(const GcmBlock& correction) noexcept;
  int finish_decryption(const GcmBlock& correction) noexcept;
  bool set_up_counter_mode(const GcmBlock& iv) noexcept;
  bool set_up_hash_key() noexcept;
  bool hash_bytes(void* hash, const unsigned char* bytes, std::size_t size) noexcept;
  bool hash_padding(void* hash, std::uint64_t size) noexcept;

  // gcm_tls_record.cpp: TLS 1.2's records.
  int tls_record(Call call, const Data& data) noexcept;
  bool hardware_record(unsigned char* record, std::size_t text_size) noexcept;
  bool encrypt_record(unsigned char* text, std::size_t text_size, const GcmBlock& iv) noexcept;
  bool decrypt_record(unsigned char* text, std::size_t text_size, const GcmBlock& iv) noexcept;
  void note_record_tag() noexcept;
  bool take_record_iv(unsigned char* explicit_iv, GcmBlock& iv) noexcept;
  bool start_record_hash(const GcmBlock& iv) noexcept;
  bool finish_record_hash(std::size_t text_size, GcmBlock& tag) noexcept;

  // The first of these are all that a message staying in software reads.
  Stage stage_ = Stage::inner;
  bool tag_displaced_ = false;
  // An init with nothing but an IV of the usual size may take the short way, for this direction.
  std::uint8_t next_iv_for_ = no_direction;
  bool iv_unused_ = false;    // inner has not begun with this IV, so a new key does not disturb it
  bool iv_is_ahead_ = false;  // inner has counted the IV up for the message after this one
  kernel::Direction direction_ = kernel::Direction::decrypt;  // as in OpenSSL before the first init
  void* inner_ = nullptr;
  // A copy, since these are called by messages of a few bytes too: one load less each.
  const CipherFunctions software_;
  std::size_t hardware_from_ = SIZE_MAX;  // calls with so many bytes and more go to hardware
  std::size_t iv_size_ = usual_iv_size;
  std::uint64_t aad_size_ = 0;

  CipherRoute& route_;
  void* counter_mode_ = nullptr;  // a CipherContext; made when first needed
  void* record_hash_ = nullptr;   // GHASH of TLS records, since inner goes on counting the IV
  kernel::SecretKey key_;
  GcmBlock hash_key_{};  // H
  bool hash_key_known_ = false;
  bool counter_mode_keyed_ = false;
  bool record_hash_keyed_ = false;

  std::uint64_t text_size_ = 0;

  // What inner's tag buffer would hold without kaccel. Decrypting: the expected tag. Encrypting:
  // while tag_displaced_, the last message's tag, where inner has the one without correction.
  GcmBlock tag_{};
  std::size_t tag_size_ = 0;  // bytes of the expected tag; 0: not set
  bool encrypted_before_ = false;
  bool record_encrypted_ = false;  // by hardware: inner knows nothing of it
  // No tag was set since: inner may compare with an old one, or with what TLS left in its place.
  bool tag_from_encryption_ = false;
  bool tls_aad_taken_ = false;  // TLS mode: inner took the header, which the tag buffer now holds
};

}  // namespace kaccel
