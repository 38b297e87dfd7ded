// One AES-XTS operation of an algorithm that has a hardware route.
//
// Each update is one data unit under the same tweak, and OpenSSL's context ("inner") keeps nothing
// from one to the next: it is always up to date, whoever ciphered the unit before. A unit cannot be
// split, so it goes to hardware whole or not at all.
#pragma once

#include <openssl/core_dispatch.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernel-bridge/secret.hpp"
#include "provider/cipher_route.hpp"
#include "provider/session_by_direction.hpp"

namespace kaccel {

class XtsContext {
 public:
  // The dispatch functions, with OpenSSL's contract (provider-cipher(7)).
  // Some are not noexcept, so that they can end in a jump (see CipherContext).
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
  explicit XtsContext(CipherRoute& route) noexcept : route_(route) {}
  XtsContext(const XtsContext& other, void* inner) noexcept;

  [[gnu::noinline]] int init(kernel::Direction direction, const unsigned char* key,
                             std::size_t key_size, const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) noexcept;
  bool takes_next_tweak(kernel::Direction direction, const unsigned char* key,
                        const unsigned char* iv, std::size_t iv_size,
                        const OSSL_PARAM params[]) noexcept;
  void forget_key() noexcept;
  void set_limit() noexcept;
  bool goes_to_hardware(const unsigned char* out, std::size_t out_capacity, const unsigned char* in,
                        std::size_t in_size) const noexcept;
  [[gnu::noinline]] bool run_hardware(unsigned char* out, std::size_t out_capacity,
                                      const unsigned char* in, std::size_t in_size) noexcept;

  void* inner_ = nullptr;
  std::size_t hardware_from_ = SIZE_MAX;  // units of so many bytes and more may go to hardware
  CipherRoute& route_;
  kernel::SecretKey key_;
  SessionByDirection sessions_;
  std::array<std::uint8_t, kernel::max_iv_size> tweak_{};
  bool tweak_set_ = false;
  bool may_take_next_tweak_ = false;  // key and limits are there for direction_
  kernel::Direction direction_ = kernel::Direction::encrypt;
  kernel::Direction key_direction_ = kernel::Direction::encrypt;  // for which key_ was set
};

}  // namespace kaccel
