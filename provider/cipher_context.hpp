// One cipher operation of an algorithm that has a hardware route: OpenSSL's own context, and beside
// it what is needed to take over from it and to hand back to it.
//
// How bytes flow. OpenSSL's context ("inner") always holds the partial block, the held-back padding
// block and CTR's leftover keystream. A call above the threshold is cut in three:
//
//      |  head: completes what inner holds  |  whole blocks: hardware  |  tail: into inner  |
//
// Between head and tail the chaining value moves: inner -> iv_ -> driver -> iv_ -> inner. The way
// back is taken only when inner is needed again (inner_is_current_).
#pragma once

#include <openssl/core_dispatch.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernel-bridge/cipher_run.hpp"
#include "kernel-bridge/secret.hpp"
#include "provider/cipher_route.hpp"
#include "provider/routing.hpp"
#include "provider/session_by_direction.hpp"

namespace kaccel {

class CipherContext {
 public:
  // The dispatch functions. They have OpenSSL's contract (provider-cipher(7)); nullptr or 0 with an
  // error raised is failure.
  static void* create(CipherRoute& route) noexcept;
  static void free(void* context) noexcept;
  static void* duplicate(void* context) noexcept;
  // Those that are not noexcept throw nothing either: a noexcept function cannot end in a jump to
  // one of OpenSSL's, which C++ knows nothing about.
  static int encrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                          const unsigned char* iv, std::size_t iv_size, const OSSL_PARAM params[]);
  static int decrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                          const unsigned char* iv, std::size_t iv_size, const OSSL_PARAM params[]);
  static int update(void* context, unsigned char* out, std::size_t* out_size,
                    std::size_t out_capacity, const unsigned char* in, std::size_t in_size);
  static int cipher(void* context, unsigned char* out, std::size_t* out_size,
                    std::size_t out_capacity, const unsigned char* in, std::size_t in_size);
  static int final(void* context, unsigned char* out, std::size_t* out_size,
                   std::size_t out_capacity) noexcept;
  static int get_params(void* context, OSSL_PARAM params[]);
  static int set_params(void* context, const OSSL_PARAM params[]);

 private:
  // OpenSSL's update and cipher functions have one signature.
  using SoftwareFunction = OSSL_FUNC_cipher_update_fn;

  // How one call is cut. head + hardware + tail == size of the call; for padded decryption the
  // head's last block is left in inner's buffer, and hardware starts that much earlier.
  struct Plan {
    std::size_t head = 0;
    std::size_t hardware_start = 0;
    std::size_t hardware = 0;
    std::size_t output = 0;  // bytes the whole call puts out
  };

  explicit CipherContext(CipherRoute& route) noexcept;
  CipherContext(const CipherContext& other, void* inner) noexcept;

  bool has_iv() const noexcept { return row_.iv_size != 0; }
  bool is_stream() const noexcept { return row_.chaining == kernel::Chaining::ctr; }
  bool in_tls_mode() const noexcept { return tls_version_ != 0; }
  std::size_t buffered() const noexcept;

  [[gnu::noinline]] int init(kernel::Direction direction, const unsigned char* key,
                             std::size_t key_size, const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) noexcept;
  bool takes_next_iv(kernel::Direction direction, const unsigned char* key, const unsigned char* iv,
                     std::size_t iv_size, const OSSL_PARAM params[]) noexcept;
  bool takes_padding(const OSSL_PARAM params[]) noexcept;
  [[gnu::noinline]] int set_any_params(const OSSL_PARAM params[]) noexcept;
  [[gnu::noinline]] int get_any_params(OSSL_PARAM params[]) noexcept;
  void remember_key(const unsigned char* key, std::size_t key_size) noexcept;
  void note_params(const OSSL_PARAM params[]) noexcept;

  void stay_in_software() noexcept;
  void set_limits() noexcept;

  bool take_over_iv() noexcept { return !inner_is_current_ || take_iv_from_inner(); }
  bool take_iv_from_inner() noexcept;
  bool fetch_iv_from_inner() noexcept;
  bool make_inner_current() noexcept;

  bool passes_whole(std::size_t size) const noexcept;
  Plan plan_update(std::size_t size) const noexcept;
  Plan plan_whole_blocks(std::size_t size) const noexcept;
  bool goes_to_hardware(std::size_t size) const noexcept;
  int all_by_software(SoftwareFunction* function, unsigned char* out, std::size_t* out_size,
                      std::size_t out_capacity, const unsigned char* in,
                      std::size_t in_size) noexcept;
  [[gnu::noinline]] int update_beyond_limit(unsigned char* out, std::size_t* out_size,
                                            std::size_t out_capacity, const unsigned char* in,
                                            std::size_t in_size) noexcept;
  int routed(SoftwareFunction* function, const Plan& plan, unsigned char* out,
             std::size_t* out_size, std::size_t out_capacity, const unsigned char* in,
             std::size_t in_size) noexcept;
  [[gnu::noinline]] int routed_cipher(unsigned char* out, std::size_t* out_size,
                                      std::size_t out_capacity, const unsigned char* in,
                                      std::size_t in_size) noexcept;
  int tls_record(unsigned char* out, std::size_t* out_size, std::size_t out_capacity,
                 const unsigned char* in, std::size_t in_size) noexcept;
  std::size_t run_hardware(const unsigned char* in, unsigned char* out, std::size_t size) noexcept;

  // The first six are all that a call staying in software reads.
  void* inner_ = nullptr;
  SoftwareFunction* software_update_ = nullptr;
  SoftwareFunction* software_cipher_ = nullptr;
  std::size_t room_ = 0;                   // bytes of output beyond its input that a call may need
  std::size_t software_limit_ = SIZE_MAX;  // calls of up to so many bytes go straight to inner_
  // 64 bits also on 32-bit machines: at 4 GiB it must not look like the start.
  std::uint64_t total_ = 0;               // bytes of this message so far; tells what inner holds
  std::size_t hardware_from_ = SIZE_MAX;  // stretches of so many bytes and more go to hardware

  // An init with nothing but an IV of this size may take the short way, for this direction.
  std::size_t next_iv_size_ = SIZE_MAX;
  std::size_t next_limit_ = SIZE_MAX;  // software_limit_ after it

  CipherRoute& route_;
  const kernel::AlgorithmInfo& row_;
  kernel::SecretKey key_;
  SessionByDirection sessions_;
  // Valid while !inner_is_current_, and before the first data after an init while iv_is_inners_.
  std::array<std::uint8_t, kernel::max_iv_size> iv_{};
  std::array<std::uint8_t, kernel::max_iv_size> original_iv_{};  // valid while it is displaced
  bool inner_is_current_ = true;
  bool iv_is_inners_ = false;  // inner has it too, unless data has passed since
  // Setting inner's IV also overwrites the original one that it restores on a re-init and reports
  // as "iv"; from then on original_iv_ answers.
  bool original_iv_displaced_ = false;
  bool iv_set_ = false;
  bool padding_ = true;
  // Setting several failed half-way: what inner took of them is not known. Software for good.
  bool params_unknown_ = false;
  bool software_only_ = false;  // until the next init: something happened that we do not follow
  kernel::Direction direction_ = kernel::Direction::encrypt;
  kernel::Direction key_direction_ = kernel::Direction::encrypt;  // for which key_ was set
  unsigned int tls_version_ = 0;
};

}  // namespace kaccel
