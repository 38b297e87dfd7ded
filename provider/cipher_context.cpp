#include "provider/cipher_context.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/prov_ssl.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "provider/counters.hpp"
#include "provider/driver_key.hpp"
#include "provider/find_param.hpp"

namespace kaccel {

using kernel::Direction;

namespace {

// More than any call has.
constexpr std::size_t no_room = SIZE_MAX / 2;

constexpr std::size_t round_down(std::size_t size, std::size_t block) noexcept {
  return size - size % block;
}

}  // namespace

// Life ------------------------------------------------------------------------------------------

CipherContext::CipherContext(CipherRoute& route) noexcept
    : route_(route), row_(kernel::info(route.driver.algorithm)) {
  software_update_ = route.software.update;
  software_cipher_ = route.software.cipher;
  room_ = is_stream() ? 0 : row_.block_size;
}

CipherContext::CipherContext(const CipherContext& other, void* inner) noexcept
    : CipherContext(other) {
  inner_ = inner;
  sessions_.share(*route_.pool, other.sessions_);
}

void* CipherContext::create(CipherRoute& route) noexcept {
  auto* context = new (std::nothrow) CipherContext(route);
  if (context == nullptr) return nullptr;
  context->inner_ = route.software.newctx(route.software_provider_context);
  if (context->inner_ == nullptr) {
    delete context;
    return nullptr;
  }
  return context;
}

void CipherContext::free(void* context) noexcept {
  auto* self = static_cast<CipherContext*>(context);
  if (self == nullptr) return;
  self->sessions_.release(*self->route_.pool);
  self->route_.software.freectx(self->inner_);
  delete self;
}

void* CipherContext::duplicate(void* context) noexcept {
  auto& self = *static_cast<CipherContext*>(context);
  if (!self.make_inner_current()) return nullptr;
  void* inner = self.route_.software.dupctx(self.inner_);
  if (inner == nullptr) return nullptr;
  auto* copy = new (std::nothrow) CipherContext(self, inner);
  if (copy == nullptr) self.route_.software.freectx(inner);
  return copy;
}

// Init and parameters ---------------------------------------------------------------------------

// Most inits bring the next message's IV and nothing else. OpenSSL cannot refuse those, so that the
// way ends in a jump to its function; and hardware need not ask inner for the IV.
bool CipherContext::takes_next_iv(Direction direction, const unsigned char* key,
                                  const unsigned char* iv, std::size_t iv_size,
                                  const OSSL_PARAM params[]) noexcept {
  if (key != nullptr || params != nullptr || iv == nullptr || iv_size != next_iv_size_ ||
      direction != direction_) {
    return false;
  }
  if (iv_size == 16) {  // a copy of known length is two instructions
    std::memcpy(iv_.data(), iv, 16);
  } else {
    std::memcpy(iv_.data(), iv, iv_size);
  }
  iv_is_inners_ = true;
  inner_is_current_ = true;
  original_iv_displaced_ = false;
  total_ = 0;
  software_limit_ = next_limit_;
  return true;
}

int CipherContext::encrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                                const unsigned char* iv, std::size_t iv_size,
                                const OSSL_PARAM params[]) {
  auto& self = *static_cast<CipherContext*>(context);
  if (self.takes_next_iv(Direction::encrypt, key, iv, iv_size, params)) [[likely]] {
    return self.route_.software.encrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::encrypt, key, key_size, iv, iv_size, params);
}

int CipherContext::decrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                                const unsigned char* iv, std::size_t iv_size,
                                const OSSL_PARAM params[]) {
  auto& self = *static_cast<CipherContext*>(context);
  if (self.takes_next_iv(Direction::decrypt, key, iv, iv_size, params)) [[likely]] {
    return self.route_.software.decrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::decrypt, key, key_size, iv, iv_size, params);
}

int CipherContext::init(Direction direction, const unsigned char* key, std::size_t key_size,
                        const unsigned char* iv, std::size_t iv_size,
                        const OSSL_PARAM params[]) noexcept {
  const bool iv_survives = iv == nullptr && has_iv();
  if (iv_survives && !make_inner_current()) return 0;
  inner_is_current_ = true;  // otherwise init replaces all that inner was missing
  iv_is_inners_ = false;

  if (iv_survives && iv_set_ && original_iv_displaced_ && row_.chaining == kernel::Chaining::cbc) {
    // OpenSSL restarts CBC from the original IV, which inner no longer has. CTR goes on counting.
    iv = original_iv_.data();
    iv_size = row_.iv_size;
  }
  if (iv != nullptr && iv_size == row_.iv_size) original_iv_displaced_ = false;

  if (direction_ != direction) sessions_.turn();
  direction_ = direction;
  total_ = 0;
  software_only_ = false;
  const auto software_init =
      direction == Direction::encrypt ? route_.software.encrypt_init : route_.software.decrypt_init;
  const int ok = software_init(inner_, key, key_size, iv, iv_size, params);
  if (ok != 1) {
    // Inner may have taken the key before something else failed, so ours may be the old one.
    sessions_.release(*route_.pool);
    key_.clear();
    if (params != nullptr) params_unknown_ = true;
    stay_in_software();
    return ok;
  }
  if (key != nullptr) {
    remember_key(key, key_size);
    key_direction_ = direction;
  }
  // A new direction without a key leaves OpenSSL with the other direction's key schedule. What
  // comes out is of no use, but must not depend on the size of the call.
  software_only_ = params_unknown_ || (!is_stream() && direction != key_direction_);
  iv_set_ = iv_set_ || iv != nullptr;
  if (params != nullptr) note_params(params);
  set_limits();
  return ok;
}

void CipherContext::remember_key(const unsigned char* key, std::size_t key_size) noexcept {
  const kernel::SecretKey new_key = driver_key(route_, {key, key_size});
  if (key_.equals(new_key.view())) return;  // the sessions that have it loaded stay ours
  sessions_.release(*route_.pool);
  key_ = new_key;
}

// Follows the settings that change how data moves. All others are inner's alone.
void CipherContext::note_params(const OSSL_PARAM params[]) noexcept {
  if (const OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_PADDING)) {
    unsigned int value = 0;
    if (OSSL_PARAM_get_uint(p, &value) == 1) {
      // In mid-message it changes what inner holds back in ways of its own.
      if (total_ != 0 && (value != 0) != padding_) stay_in_software();
      padding_ = value != 0;
    }
  }
  if (const OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_TLS_VERSION)) {
    unsigned int value = 0;
    if (OSSL_PARAM_get_uint(p, &value) == 1) {
      if (total_ != 0 && value != tls_version_) stay_in_software();
      tls_version_ = value;
    }
  }
  // Moves CTR's position within a block.
  if (find_param(params, OSSL_CIPHER_PARAM_NUM) != nullptr) stay_in_software();
}

// EVP sets the padding of a context without any at each init. Where it changes nothing in
// mid-message, it is inner's alone, whatever else inner is missing.
bool CipherContext::takes_padding(const OSSL_PARAM params[]) noexcept {
  const bool is_padding = params != nullptr && params[0].key != nullptr &&
                          params[1].key == nullptr &&
                          params[0].data_type == OSSL_PARAM_UNSIGNED_INTEGER &&
                          params[0].data_size == sizeof(unsigned int) &&
                          params[0].data != nullptr && is_key(params[0], OSSL_CIPHER_PARAM_PADDING);
  if (!is_padding) return false;
  unsigned int value = 0;
  std::memcpy(&value, params[0].data, sizeof value);
  if (total_ != 0 && (value != 0) != padding_) return false;
  padding_ = value != 0;
  return true;
}

int CipherContext::set_params(void* context, const OSSL_PARAM params[]) {
  auto& self = *static_cast<CipherContext*>(context);
  if (self.takes_padding(params)) [[likely]] {
    return self.route_.software.set_ctx_params(self.inner_, params);
  }
  return self.set_any_params(params);
}

int CipherContext::set_any_params(const OSSL_PARAM params[]) noexcept {
  if (!make_inner_current()) return 0;
  iv_is_inners_ = false;  // in TLS mode a record of no bytes uses the IV, and total_ does not tell
  const int ok = route_.software.set_ctx_params(inner_, params);
  if (ok != 1) {
    params_unknown_ = true;
    stay_in_software();
  } else if (params != nullptr) {
    note_params(params);
    set_limits();
  }
  return ok;
}

// At each init EVP asks for the IV's length, which hardware does not change.
int CipherContext::get_params(void* context, OSSL_PARAM params[]) {
  auto& self = *static_cast<CipherContext*>(context);
  const bool inner_knows_all = self.inner_is_current_ && !self.original_iv_displaced_;
  if (inner_knows_all || (params != nullptr && params[0].key != nullptr &&
                          params[1].key == nullptr && is_key(params[0], OSSL_CIPHER_PARAM_IVLEN)))
      [[likely]] {
    return self.route_.software.get_ctx_params(self.inner_, params);
  }
  return self.get_any_params(params);
}

int CipherContext::get_any_params(OSSL_PARAM params[]) noexcept {
  if (!make_inner_current()) return 0;
  const int ok = route_.software.get_ctx_params(inner_, params);
  if (ok != 1 || params == nullptr || !original_iv_displaced_) return ok;
  OSSL_PARAM* p = find_param(params, OSSL_CIPHER_PARAM_IV);
  if (p == nullptr) return ok;
  const std::size_t size = row_.iv_size;
  return p->data_type == OSSL_PARAM_OCTET_PTR
             ? OSSL_PARAM_set_octet_ptr(p, original_iv_.data(), size)
             : OSSL_PARAM_set_octet_string(p, original_iv_.data(), size);
}

// Until the next init. Inner has or gets everything, so no byte is lost.
void CipherContext::stay_in_software() noexcept {
  software_only_ = true;
  set_limits();
}

void CipherContext::set_limits() noexcept {
  const bool no_route = software_only_ || key_.empty() || (has_iv() && !iv_set_) ||
                        route_.driver.health.is_out() ||
                        // Removing MAC and padding takes the same time for every content only in
                        // OpenSSL's own code. Of CTR it knows no records.
                        (in_tls_mode() && (is_stream() || direction_ == Direction::decrypt));
  hardware_from_ = no_route ? SIZE_MAX
                            : smallest_hardware_size(route_.threshold(direction_), route_.key_size,
                                                     route_.driver.restrictions);
  room_ = is_stream() ? 0 : row_.block_size;
  if (!inner_is_current_) {
    if (in_tls_mode()) room_ = no_room;
    software_limit_ = 0;  // any data first has to pass make_inner_current()
  } else {
    software_limit_ = no_route ? SIZE_MAX : software_limit(route_.threshold(direction_));
  }
  next_iv_size_ = no_route || !has_iv() || in_tls_mode() ? SIZE_MAX : row_.iv_size;
  next_limit_ = software_limit(route_.threshold(direction_));
}

// The chaining value's way there and back ---------------------------------------------------------

// Before hardware: iv_ becomes what inner would go on from.
bool CipherContext::take_iv_from_inner() noexcept {
  if (!iv_is_inners_ || total_ != 0) return fetch_iv_from_inner();
  original_iv_ = iv_;
  original_iv_displaced_ = true;
  return true;
}

bool CipherContext::fetch_iv_from_inner() noexcept {
  if (!has_iv()) return true;
  std::array<std::uint8_t, kernel::max_iv_size> original{};
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, iv_.data(), row_.iv_size),
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_IV, original.data(), row_.iv_size),
      OSSL_PARAM_construct_end(),
  };
  if (route_.software.get_ctx_params(inner_, params) != 1) return false;
  if (!original_iv_displaced_) {
    original_iv_ = original;
    original_iv_displaced_ = true;
  }
  return true;
}

// After hardware: inner goes on from iv_, with an empty buffer.
bool CipherContext::make_inner_current() noexcept {
  if (inner_is_current_) return true;
  const auto software_init = direction_ == Direction::encrypt ? route_.software.encrypt_init
                                                              : route_.software.decrypt_init;
  const int ok = has_iv() ? software_init(inner_, nullptr, 0, iv_.data(), row_.iv_size, nullptr)
                          : software_init(inner_, nullptr, 0, nullptr, 0, nullptr);
  if (ok != 1) return false;
  inner_is_current_ = true;
  iv_is_inners_ = false;
  set_limits();
  return true;
}

// Data --------------------------------------------------------------------------------------------

// A call that stays in software passes here in ten instructions: nothing is saved and nothing
// looked at afterwards, so that it can end in a jump. That needs calls that OpenSSL cannot refuse:
// with too little room for the output the long way is taken, which follows what a refusal leaves
// behind. (EVP always passes one block more than goes in.)
int CipherContext::update(void* context, unsigned char* out, std::size_t* out_size,
                          std::size_t out_capacity, const unsigned char* in, std::size_t in_size) {
  auto& self = *static_cast<CipherContext*>(context);
  if (out_capacity >= in_size + self.room_ && in_size <= self.software_limit_) [[likely]] {
    self.total_ += in_size;
    return self.software_update_(self.inner_, out, out_size, out_capacity, in, in_size);
  }
  return self.update_beyond_limit(out, out_size, out_capacity, in, in_size);
}

int CipherContext::update_beyond_limit(unsigned char* out, std::size_t* out_size,
                                       std::size_t out_capacity, const unsigned char* in,
                                       std::size_t in_size) noexcept {
  if (in_tls_mode()) return tls_record(out, out_size, out_capacity, in, in_size);
  if (passes_whole(in_size) && in_size <= out_capacity && goes_to_hardware(in_size) &&
      take_over_iv()) [[likely]] {
    // The usual case, by the shortest way: no head, no tail.
    const std::size_t done = run_hardware(in, out, in_size);
    total_ += done;
    *out_size = done;
    if (done == in_size) [[likely]]
      return 1;
    std::size_t rest = 0;
    const int ok = all_by_software(route_.software.update, out + done, &rest, out_capacity - done,
                                   in + done, in_size - done);
    *out_size += rest;
    return ok;
  }
  return routed(route_.software.update, plan_update(in_size), out, out_size, out_capacity, in,
                in_size);
}

// EVP_Cipher(): whole blocks without padding, past inner's buffer.
int CipherContext::cipher(void* context, unsigned char* out, std::size_t* out_size,
                          std::size_t out_capacity, const unsigned char* in, std::size_t in_size) {
  auto& self = *static_cast<CipherContext*>(context);
  if (out_capacity >= in_size && in_size <= self.software_limit_) [[likely]] {
    if (self.is_stream()) self.total_ += in_size;
    self.iv_is_inners_ = false;  // which total_ does not tell for a block mode
    return self.software_cipher_(self.inner_, out, out_size, out_capacity, in, in_size);
  }
  return self.routed_cipher(out, out_size, out_capacity, in, in_size);
}

int CipherContext::routed_cipher(unsigned char* out, std::size_t* out_size,
                                 std::size_t out_capacity, const unsigned char* in,
                                 std::size_t in_size) noexcept {
  // For the block modes total_ counts what passes inner's buffer, and this does not.
  const std::uint64_t total = total_ + (is_stream() ? in_size : 0);
  Plan plan;
  if (in != nullptr && !in_tls_mode()) {
    if (is_stream()) {
      plan = plan_update(in_size);
    } else if (buffered() == 0) {
      plan = plan_whole_blocks(in_size);
    }
  }
  const int ok = routed(route_.software.cipher, plan, out, out_size, out_capacity, in, in_size);
  total_ = total;
  return ok;
}

int CipherContext::final(void* context, unsigned char* out, std::size_t* out_size,
                         std::size_t out_capacity) noexcept {
  auto& self = *static_cast<CipherContext*>(context);
  if (!self.make_inner_current()) return 0;
  const int ok = self.route_.software.final(self.inner_, out, out_size, out_capacity);
  if (ok != 1) {
    self.stay_in_software();
  } else if (!self.is_stream()) {
    self.total_ = 0;
    self.iv_is_inners_ = false;
  }
  return ok;
}

// Bytes in inner's buffer (ciphercommon.c keeps a full last block back when decrypting with
// padding); for CTR, keystream bytes already used of the current block.
std::size_t CipherContext::buffered() const noexcept {
  const auto rest = static_cast<std::size_t>(total_ % row_.block_size);
  const bool holds_back = !is_stream() && padding_ && direction_ == Direction::decrypt;
  return holds_back && rest == 0 && total_ != 0 ? row_.block_size : rest;
}

// Whether a call's bytes come out as they go in, all of them, with nothing left in inner.
bool CipherContext::passes_whole(std::size_t size) const noexcept {
  const bool holds_back = !is_stream() && padding_ && direction_ == Direction::decrypt;
  return ((total_ | size) & (row_.block_size - 1U)) == 0 && !holds_back;
}

CipherContext::Plan CipherContext::plan_whole_blocks(std::size_t size) const noexcept {
  if (size % row_.block_size != 0) return {};
  return {0, 0, size, size};
}

CipherContext::Plan CipherContext::plan_update(std::size_t size) const noexcept {
  const std::size_t block = row_.block_size;
  const std::size_t held = buffered();
  if (is_stream() || !padding_ || direction_ == Direction::encrypt) {
    const std::size_t head = held == 0 ? 0 : block - held;
    if (size < head) return {};
    return {head, head, round_down(size - head, block),
            is_stream() ? size : round_down(held + size, block)};
  }
  // Decryption with padding: inner always holds 1 to 16 bytes once it has seen any. To get its
  // block out, the head completes it and adds one more, which inner then holds and hardware takes
  // again. The last block of all is left for the tail, since the padding may be in it.
  const std::size_t head = held == 0 ? 0 : block - held + block;
  if (size <= head) return {};
  const std::size_t start = head == 0 ? 0 : head - block;
  return {head, start, round_down(size - start - 1, block), round_down(held + size - 1, block)};
}

bool CipherContext::goes_to_hardware(std::size_t size) const noexcept {
  return size >= hardware_from_ && !route_.driver.health.is_out() &&
         permits_multiple(route_.driver.restrictions, size);  // hardware_from_ knows min_size
}

int CipherContext::all_by_software(SoftwareFunction* function, unsigned char* out,
                                   std::size_t* out_size, std::size_t out_capacity,
                                   const unsigned char* in, std::size_t in_size) noexcept {
  if (!make_inner_current()) return 0;
  set_limits();
  iv_is_inners_ = false;  // total_ does not tell what EVP_Cipher() passes
  total_ += in_size;
  const int ok = function(inner_, out, out_size, out_capacity, in, in_size);
  if (ok != 1) stay_in_software();
  return ok;
}

// One call in three parts. Whatever hardware leaves undone goes to inner with the tail, so a
// failure is nothing special here.
int CipherContext::routed(SoftwareFunction* function, const Plan& plan, unsigned char* out,
                          std::size_t* out_size, std::size_t out_capacity, const unsigned char* in,
                          std::size_t in_size) noexcept {
  if (!goes_to_hardware(plan.hardware) || plan.output > out_capacity) {
    return all_by_software(function, out, out_size, out_capacity, in, in_size);
  }
  std::size_t written = 0;
  if (plan.head != 0) {
    if (all_by_software(function, out, &written, out_capacity, in, plan.head) != 1) return 0;
  }
  if (!take_over_iv()) {
    stay_in_software();
    return 0;
  }
  const std::size_t done = run_hardware(in + plan.hardware_start, out + written, plan.hardware);
  const std::size_t consumed = plan.hardware_start + done;
  written += done;
  total_ += consumed - plan.head;

  std::size_t tail_written = 0;
  if (consumed < in_size &&
      all_by_software(function, out + written, &tail_written, out_capacity - written, in + consumed,
                      in_size - consumed) != 1) {
    return 0;
  }
  *out_size = written + tail_written;
  return 1;
}

// Returns how many bytes are done, from none to all. Afterwards iv_ is the truth and inner is not.
std::size_t CipherContext::run_hardware(const unsigned char* in, unsigned char* out,
                                        std::size_t size) noexcept {
  const kernel::CipherProgress progress =
      kernel::run_cipher(*route_.pool, sessions_.current(),
                         {route_.driver, direction_, key_.view(), iv_.data(), in, out, size});
  inner_is_current_ = false;
  software_limit_ = 0;
  if (progress.status && progress.done == size) [[likely]] {
    route_.counters->hardware_calls.fetch_add(1, std::memory_order_relaxed);
  } else {
    const kernel::Failure failure = progress.status.failure;
    const bool sandboxed = kernel::is_sandboxed(failure);
    if (!sandboxed) route_.counters->fallbacks.fetch_add(1, std::memory_order_relaxed);
    if (failure == kernel::Failure::bad_key || sandboxed) stay_in_software();
  }
  route_.counters->hardware_bytes.fetch_add(progress.done, std::memory_order_relaxed);
  return progress.done;
}

// A TLS record to encrypt, in place: the padding is TLS's (RFC 5246, 6.2.3.2) and there is no
// buffer. Whatever is out of the ordinary is OpenSSL's to refuse.
int CipherContext::tls_record(unsigned char* out, std::size_t* out_size, std::size_t out_capacity,
                              const unsigned char* in, std::size_t in_size) noexcept {
  const std::size_t padding = row_.block_size - in_size % row_.block_size;
  const std::size_t size = in_size + padding;
  const bool ordinary = in == out && padding_ && tls_version_ != SSL3_VERSION &&
                        out_capacity >= size && direction_ == Direction::encrypt;
  if (!ordinary || !goes_to_hardware(size) || !take_over_iv()) {
    return all_by_software(route_.software.update, out, out_size, out_capacity, in, in_size);
  }
  std::memset(out + in_size, static_cast<int>(padding - 1), padding);
  const std::size_t done = run_hardware(out, out, size);
  room_ = no_room;  // a record of no bytes has padding, and must not pass either
  total_ += in_size;
  if (done < size) {
    // The record is padded already, so the rest goes past inner's padding.
    std::size_t rest = 0;
    if (!make_inner_current() || route_.software.cipher(inner_, out + done, &rest, size - done,
                                                        out + done, size - done) != 1) {
      stay_in_software();
      return 0;
    }
  }
  *out_size = size;
  return 1;
}

}  // namespace kaccel
