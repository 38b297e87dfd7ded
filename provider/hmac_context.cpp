#include "provider/hmac_context.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include "kernel-bridge/mac_run.hpp"
#include "provider/counters.hpp"
#include "provider/find_param.hpp"

namespace kaccel {
namespace {

constexpr std::array flags_not_followed{OSSL_MAC_PARAM_TLS_DATA_SIZE, OSSL_MAC_PARAM_DIGEST_NOINIT,
                                        OSSL_MAC_PARAM_DIGEST_ONESHOT};

bool has_flags(const OSSL_PARAM params[]) noexcept {
  return std::any_of(flags_not_followed.begin(), flags_not_followed.end(),
                     [params](const char* key) { return find_param(params, key) != nullptr; });
}

}  // namespace

// Life ------------------------------------------------------------------------------------------

HmacContext::HmacContext(const HmacContext& other) noexcept
    : route_(other.route_),
      inner_(other.inner_),
      stage_(other.stage_),
      software_limit_(other.software_limit_),
      named_(other.named_),
      keyed_(other.keyed_),
      key_(other.key_),
      session_(route_.pool->share(other.session_)),
      shared_session_(other.shared_session_),
      software_only_(other.software_only_) {}

HmacContext::~HmacContext() {
  route_.pool->release(session_);
}

void* HmacContext::create(MacRoute& route) noexcept {
  auto* context = new (std::nothrow) HmacContext(route);
  if (context == nullptr) return nullptr;
  if (!context->inner_.create(route.software, route.software_provider_context)) {
    delete context;
    return nullptr;
  }
  return context;
}

void HmacContext::free(void* context) noexcept {
  delete static_cast<HmacContext*>(context);
}

void* HmacContext::duplicate(void* context) noexcept {
  const auto& self = *static_cast<HmacContext*>(context);
  auto* copy = new (std::nothrow) HmacContext(self);
  if (copy == nullptr) return nullptr;
  copy->message_.start(self.message_.limit());
  if (!copy->message_.append(self.message_.data(), self.message_.size())) {
    delete copy;
    return nullptr;
  }
  return copy;
}

// Init and parameters ---------------------------------------------------------------------------

int HmacContext::init(void* context, const unsigned char* key, std::size_t key_size,
                      const OSSL_PARAM params[]) {
  auto& self = *static_cast<HmacContext*>(context);
  if (key == nullptr && params == nullptr && self.stage_ == Stage::ended) [[likely]] {
    // The next message under the same key, after one that software ended.
    void* inner = self.inner_.own();
    if (inner == nullptr) return 0;
    self.stage_ = Stage::collecting;
    return self.route_.software.init(inner, key, key_size, params);
  }
  return self.restart(key, key_size, params);
}

int HmacContext::restart(const unsigned char* key, std::size_t key_size,
                         const OSSL_PARAM params[]) noexcept {
  const bool same_again = key == nullptr && params == nullptr &&
                          (stage_ == Stage::collecting || stage_ == Stage::answered);
  if (!same_again) {  // else inner waits as it was keyed, and need not know
    // Should it be refused, the message goes on. One that has ended is handed over afterwards,
    // unless the key may have been taken by then.
    const bool goes_on = stage_ == Stage::collecting && message_.size() != 0;
    const bool has_ended = stage_ == Stage::answered && params != nullptr && has_flags(params);
    if ((goes_on || has_ended) && !hand_over()) return 0;
    void* inner = inner_.own();
    if (inner == nullptr) return 0;
    const int ok = route_.software.init(inner, key, key_size, params);
    if (ok != 1) {
      if (!hand_over()) return 0;
      note_refused_params(params);
      return ok;
    }
    const bool key_was_set = params != nullptr && note_params(params);
    if (key != nullptr) {
      remember_key(key, key_size);
    } else if (!key_was_set && keyed_ != named_) {
      forget_key();  // a digest without a key: what OpenSSL does then is its own affair
    }
  }
  begin_message();
  return 1;
}

void HmacContext::begin_message() noexcept {
  const bool may_go_to_hardware =
      keyed_ != nullptr && !software_only_ && !keyed_->driver.health.is_out();
  stage_ = may_go_to_hardware ? Stage::collecting : Stage::passing;
  if (may_go_to_hardware) {
    message_.start(std::min(longest_message, keyed_->driver.restrictions.max_size));
    software_limit_ = software_limit(keyed_->threshold);
  } else {
    message_.clear();
  }
}

int HmacContext::set_params(void* context, const OSSL_PARAM params[]) noexcept {
  auto& self = *static_cast<HmacContext*>(context);
  if (self.stage_ == Stage::answered || self.message_.size() != 0) {
    if (!self.hand_over()) return 0;
  }
  void* inner = self.inner_.own();
  if (inner == nullptr) return 0;
  const int ok = self.route_.software.set_ctx_params(inner, params);
  if (ok != 1) {
    self.note_refused_params(params);
    self.stage_ = Stage::passing;
  } else if (params != nullptr) {
    const bool key_was_set = self.note_params(params);
    if (key_was_set) self.begin_message();
    if (self.software_only_ || self.keyed_ == nullptr || self.keyed_ != self.named_) {
      self.stage_ = Stage::passing;
    }
  }
  return ok;
}

int HmacContext::get_params(void* context, OSSL_PARAM params[]) noexcept {
  auto& self = *static_cast<HmacContext*>(context);
  return self.route_.software.get_ctx_params(self.inner_.get(), params);
}

// Follows what inner has taken. Returns whether it started a message with a key among them.
bool HmacContext::note_params(const OSSL_PARAM params[]) noexcept {
  if (const OSSL_PARAM* p = find_param(params, OSSL_MAC_PARAM_DIGEST)) {
    const char* name = nullptr;
    named_ = OSSL_PARAM_get_utf8_string_ptr(p, &name) == 1 && name != nullptr ? route_.find(name)
                                                                              : nullptr;
  }
  if (has_flags(params)) software_only_ = true;
  const OSSL_PARAM* p = find_param(params, OSSL_MAC_PARAM_KEY);
  if (p == nullptr) return false;
  if (p->data == nullptr) {
    forget_key();  // OpenSSL goes on with another key, or with none
    return false;
  }
  remember_key(static_cast<const unsigned char*>(p->data), p->data_size);
  return true;
}

// Inner may have taken some of them, and the key.
void HmacContext::note_refused_params(const OSSL_PARAM params[]) noexcept {
  forget_key();
  if (params == nullptr) return;
  if (find_param(params, OSSL_MAC_PARAM_DIGEST) != nullptr) named_ = nullptr;
  if (has_flags(params)) software_only_ = true;
}

void HmacContext::forget_key() noexcept {
  route_.pool->release(session_);
  shared_session_.leave();
  key_.clear();
  keyed_ = nullptr;
}

// In a form that every driver takes: of one to block size bytes (RFC 2104, 2 and 3).
void HmacContext::remember_key(const unsigned char* key, std::size_t key_size) noexcept {
  if (named_ == nullptr) {
    forget_key();
    return;
  }
  constexpr std::uint8_t empty_key = 0;  // HMAC fills up with zeros
  std::array<std::uint8_t, kernel::max_digest_size> hashed{};
  std::span<const std::uint8_t> usable(key, key_size);
  if (key_size == 0) {
    usable = {&empty_key, 1};
  } else if (key_size > kernel::info(named_->driver.algorithm).hash_block_size) {
    std::size_t size = 0;
    if (EVP_Q_digest(route_.library_context, named_->name, nullptr, key, key_size, hashed.data(),
                     &size) != 1) {
      return forget_key();
    }
    usable = {hashed.data(), size};
  }
  if (keyed_ != named_ || !key_.equals(usable)) {
    forget_key();
    key_.assign(usable);
    keyed_ = named_;
    shared_session_.start(*route_.pool);
  }
  kernel::wipe(hashed.data(), hashed.size());
}

// Data --------------------------------------------------------------------------------------------

int HmacContext::update(void* context, const unsigned char* data, std::size_t size) {
  auto& self = *static_cast<HmacContext*>(context);
  if (self.stage_ == Stage::collecting && self.message_.append(data, size)) [[likely]] {
    return 1;
  }
  return self.update_inner(data, size);
}

int HmacContext::update_inner(const unsigned char* data, std::size_t size) noexcept {
  if (!hand_over()) return 0;
  void* inner = inner_.own();
  return inner == nullptr ? 0 : route_.software.update(inner, data, size);
}

// A message within the threshold passes here in as few instructions as can be.
int HmacContext::final(void* context, unsigned char* out, std::size_t* out_size,
                       std::size_t out_capacity) {
  auto& self = *static_cast<HmacContext*>(context);
  if (self.stage_ != Stage::collecting || self.message_.size() > self.software_limit_) {
    return self.final_beyond_limit(out, out_size, out_capacity);
  }
  void* inner = self.inner_.own();
  if (inner == nullptr) return 0;
  const MessageBuffer& message = self.message_;
  if (message.size() != 0 &&
      self.route_.software.update(inner, message.data(), message.size()) != 1) {
    return 0;
  }
  self.message_.clear();
  self.stage_ = Stage::ended;
  return self.route_.software.final(inner, out, out_size, out_capacity);
}

int HmacContext::final_beyond_limit(unsigned char* out, std::size_t* out_size,
                                    std::size_t out_capacity) noexcept {
  if (stage_ == Stage::collecting) {
    const MacRoute::Digest& digest = *keyed_;
    const std::size_t digest_size = kernel::info(digest.driver.algorithm).digest_size;
    const Decision decision =
        decide(digest.threshold, message_.size(), key_.view().size(), digest.driver.restrictions);
    if (decision.route == Route::hardware && out_capacity >= digest_size && run_hardware(out)) {
      stage_ = Stage::answered;
      *out_size = digest_size;
      return 1;
    }
  }
  if (!hand_over()) return 0;
  void* inner = inner_.own();
  return inner == nullptr ? 0 : route_.software.final(inner, out, out_size, out_capacity);
}

// Brings inner to where it would be without hardware. Calls after the end of a message have no
// meaning, but the same one as without kaccel.
bool HmacContext::hand_over() noexcept {
  if (stage_ == Stage::ended) stage_ = Stage::passing;
  if (stage_ == Stage::passing) return true;
  void* inner = inner_.own();
  if (inner == nullptr) return false;
  const bool was_answered = stage_ == Stage::answered;
  stage_ = Stage::passing;
  const auto message = message_.view();
  if (!message.empty() && route_.software.update(inner, message.data(), message.size()) != 1) {
    return false;
  }
  message_.clear();
  if (!was_answered) return true;
  std::array<std::uint8_t, kernel::max_digest_size> unused{};
  std::size_t size = 0;
  return route_.software.final(inner, unused.data(), &size, unused.size()) == 1;
}

bool HmacContext::run_hardware(unsigned char* out) noexcept {
  const std::size_t size = kernel::info(keyed_->driver.algorithm).digest_size;
  shared_session_.take(session_);
  const kernel::Status status = kernel::run_mac(
      *route_.pool, session_, {keyed_->driver, key_.view(), message_.view(), {out, size}});
  shared_session_.keep(session_);
  if (status) [[likely]] {
    keyed_->counters->hardware_calls.fetch_add(1, std::memory_order_relaxed);
    keyed_->counters->hardware_bytes.fetch_add(message_.size(), std::memory_order_relaxed);
    return true;
  }
  if (!kernel::is_sandboxed(status.failure)) {
    keyed_->counters->fallbacks.fetch_add(1, std::memory_order_relaxed);
  }
  return false;
}

}  // namespace kaccel
