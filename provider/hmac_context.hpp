// One HMAC operation, where at least one digest has a hardware route.
//
// A hash's state cannot move between OpenSSL and the kernel, so a message is collected, and its end
// decides: within the threshold it is OpenSSL's ("inner"), beyond it is sent to the driver as a
// whole. Since all of it is still there, a driver's failure costs nothing but time. What grows too
// long to be kept is handed to inner and stays there.
#pragma once

#include <openssl/core_dispatch.h>

#include <cstddef>
#include <cstdint>

#include "kernel-bridge/secret.hpp"
#include "kernel-bridge/session_pool.hpp"
#include "provider/mac_route.hpp"
#include "provider/message_buffer.hpp"
#include "provider/shared_mac.hpp"
#include "provider/shared_session.hpp"

namespace kaccel {

class HmacContext {
 public:
  // The longest message kept for hardware, in bytes.
  static constexpr std::size_t longest_message = std::size_t{1} << 20;

  // The dispatch functions, with OpenSSL's contract (provider-mac(7)).
  static void* create(MacRoute& route) noexcept;
  static void free(void* context) noexcept;
  static void* duplicate(void* context) noexcept;
  // Three are not noexcept, so that they can end in a jump (see CipherContext).
  static int init(void* context, const unsigned char* key, std::size_t key_size,
                  const OSSL_PARAM params[]);
  static int update(void* context, const unsigned char* data, std::size_t size);
  static int final(void* context, unsigned char* out, std::size_t* out_size,
                   std::size_t out_capacity);
  static int get_params(void* context, OSSL_PARAM params[]) noexcept;
  static int set_params(void* context, const OSSL_PARAM params[]) noexcept;

 private:
  enum class Stage : std::uint8_t {
    passing,     // every call goes to inner
    collecting,  // inner is freshly keyed, the message so far is in message_
    answered,    // hardware gave the result, the message is still there
    ended,       // inner gave the result of a message within the threshold
  };

  explicit HmacContext(MacRoute& route) noexcept : route_(route) {}
  HmacContext(const HmacContext& other) noexcept;
  HmacContext& operator=(const HmacContext&) = delete;
  ~HmacContext();

  // Apart, so that what short messages pass saves no registers for it.
  [[gnu::noinline]] int restart(const unsigned char* key, std::size_t key_size,
                                const OSSL_PARAM params[]) noexcept;
  [[gnu::noinline]] int update_inner(const unsigned char* data, std::size_t size) noexcept;
  void begin_message() noexcept;
  [[gnu::noinline]] int final_beyond_limit(unsigned char* out, std::size_t* out_size,
                                           std::size_t out_capacity) noexcept;
  bool hand_over() noexcept;
  bool run_hardware(unsigned char* out) noexcept;

  bool note_params(const OSSL_PARAM params[]) noexcept;
  void note_refused_params(const OSSL_PARAM params[]) noexcept;
  void remember_key(const unsigned char* key, std::size_t key_size) noexcept;
  void forget_key() noexcept;

  MacRoute& route_;
  SharedMac inner_;
  Stage stage_ = Stage::passing;
  std::size_t software_limit_ = 0;  // messages of up to so many bytes are inner's
  MessageBuffer message_;

  // Which digest the next key will be used with, and which one key_ is used with; nullptr where
  // there is no route.
  MacRoute::Digest* named_ = nullptr;
  MacRoute::Digest* keyed_ = nullptr;
  kernel::SecretKey key_;
  kernel::SessionPool::Handle session_;
  SharedSession shared_session_;
  bool software_only_ = false;  // for good: TLS's constant-time mode, or flags we do not follow
};

}  // namespace kaccel
