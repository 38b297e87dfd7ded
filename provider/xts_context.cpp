#include "provider/xts_context.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernel-bridge/cipher_run.hpp"
#include "provider/counters.hpp"
#include "provider/driver_key.hpp"

namespace kaccel {

using kernel::Direction;

namespace {

constexpr std::size_t block_size = 16;
// IEEE 1619: 2^20 blocks a data unit. OpenSSL refuses more.
constexpr std::size_t largest_unit = (std::size_t{1} << 20) * block_size;

}  // namespace

// Life ------------------------------------------------------------------------------------------

XtsContext::XtsContext(const XtsContext& other, void* inner) noexcept : XtsContext(other) {
  inner_ = inner;
  sessions_.share(*route_.pool, other.sessions_);
}

void* XtsContext::create(CipherRoute& route) noexcept {
  auto* context = new (std::nothrow) XtsContext(route);
  if (context == nullptr) return nullptr;
  context->inner_ = route.software.newctx(route.software_provider_context);
  if (context->inner_ == nullptr) {
    delete context;
    return nullptr;
  }
  return context;
}

void XtsContext::free(void* context) noexcept {
  auto* self = static_cast<XtsContext*>(context);
  if (self == nullptr) return;
  self->sessions_.release(*self->route_.pool);
  self->route_.software.freectx(self->inner_);
  delete self;
}

void* XtsContext::duplicate(void* context) noexcept {
  auto& self = *static_cast<XtsContext*>(context);
  void* inner = self.route_.software.dupctx(self.inner_);
  if (inner == nullptr) return nullptr;
  auto* copy = new (std::nothrow) XtsContext(self, inner);
  if (copy == nullptr) self.route_.software.freectx(inner);
  return copy;
}

// Init ------------------------------------------------------------------------------------------

// Most inits bring the next unit's tweak and nothing else. OpenSSL cannot refuse those, so that the
// way ends in a jump to its function.
bool XtsContext::takes_next_tweak(Direction direction, const unsigned char* key,
                                  const unsigned char* iv, std::size_t iv_size,
                                  const OSSL_PARAM params[]) noexcept {
  constexpr std::size_t tweak_size = 16;
  if (key != nullptr || params != nullptr || iv == nullptr || iv_size != tweak_size ||
      !may_take_next_tweak_ || direction != direction_) {
    return false;
  }
  std::memcpy(tweak_.data(), iv, tweak_size);
  return true;
}

int XtsContext::encrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                             const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) {
  auto& self = *static_cast<XtsContext*>(context);
  if (self.takes_next_tweak(Direction::encrypt, key, iv, iv_size, params)) [[likely]] {
    return self.route_.software.encrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::encrypt, key, key_size, iv, iv_size, params);
}

int XtsContext::decrypt_init(void* context, const unsigned char* key, std::size_t key_size,
                             const unsigned char* iv, std::size_t iv_size,
                             const OSSL_PARAM params[]) {
  auto& self = *static_cast<XtsContext*>(context);
  if (self.takes_next_tweak(Direction::decrypt, key, iv, iv_size, params)) [[likely]] {
    return self.route_.software.decrypt_init(self.inner_, key, key_size, iv, iv_size, params);
  }
  return self.init(Direction::decrypt, key, key_size, iv, iv_size, params);
}

int XtsContext::init(Direction direction, const unsigned char* key, std::size_t key_size,
                     const unsigned char* iv, std::size_t iv_size,
                     const OSSL_PARAM params[]) noexcept {
  if (direction_ != direction) sessions_.turn();
  direction_ = direction;
  const auto software_init =
      direction == Direction::encrypt ? route_.software.encrypt_init : route_.software.decrypt_init;
  const int ok = software_init(inner_, key, key_size, iv, iv_size, params);
  if (ok != 1) {
    // Inner may have taken key or tweak before something else failed.
    forget_key();
    tweak_set_ = false;
  } else {
    if (iv != nullptr && iv_size == tweak_.size()) {
      std::copy_n(iv, iv_size, tweak_.begin());
      tweak_set_ = true;
    }
    if (key != nullptr) {
      const kernel::SecretKey new_key = driver_key(route_, {key, key_size});
      if (!key_.equals(new_key.view())) {
        forget_key();
        key_ = new_key;
      }
      key_direction_ = direction;
    }
  }
  set_limit();
  return ok;
}

void XtsContext::forget_key() noexcept {
  sessions_.release(*route_.pool);
  key_.clear();
}

void XtsContext::set_limit() noexcept {
  // A new direction without a key leaves OpenSSL with the other direction's key schedule.
  const bool no_route = key_.empty() || !tweak_set_ || direction_ != key_direction_;
  hardware_from_ =
      no_route ? SIZE_MAX
               : std::max(smallest_hardware_size(route_.threshold(direction_), route_.key_size,
                                                 route_.driver.restrictions),
                          block_size);
  may_take_next_tweak_ = !no_route;
}

// Data ------------------------------------------------------------------------------------------

int XtsContext::update(void* context, unsigned char* out, std::size_t* out_size,
                       std::size_t out_capacity, const unsigned char* in, std::size_t in_size) {
  auto& self = *static_cast<XtsContext*>(context);
  if (in_size >= self.hardware_from_ && self.run_hardware(out, out_capacity, in, in_size)) {
    *out_size = in_size;
    return 1;
  }
  return self.route_.software.update(self.inner_, out, out_size, out_capacity, in, in_size);
}

int XtsContext::cipher(void* context, unsigned char* out, std::size_t* out_size,
                       std::size_t out_capacity, const unsigned char* in, std::size_t in_size) {
  auto& self = *static_cast<XtsContext*>(context);
  if (in_size >= self.hardware_from_ && self.run_hardware(out, out_capacity, in, in_size)) {
    *out_size = in_size;
    return 1;
  }
  return self.route_.software.cipher(self.inner_, out, out_size, out_capacity, in, in_size);
}

int XtsContext::final(void* context, unsigned char* out, std::size_t* out_size,
                      std::size_t out_capacity) {
  auto& self = *static_cast<XtsContext*>(context);
  return self.route_.software.final(self.inner_, out, out_size, out_capacity);
}

int XtsContext::get_params(void* context, OSSL_PARAM params[]) {
  auto& self = *static_cast<XtsContext*>(context);
  return self.route_.software.get_ctx_params(self.inner_, params);
}

// Nothing that XTS lets one set changes how data moves.
int XtsContext::set_params(void* context, const OSSL_PARAM params[]) {
  auto& self = *static_cast<XtsContext*>(context);
  return self.route_.software.set_ctx_params(self.inner_, params);
}

bool XtsContext::goes_to_hardware(const unsigned char* out, std::size_t out_capacity,
                                  const unsigned char* in, std::size_t in_size) const noexcept {
  const bool whole_blocks = in_size % block_size == 0;
  return out != nullptr && in != nullptr && in_size <= out_capacity && in_size <= largest_unit &&
         (whole_blocks || route_.ciphertext_stealing) &&
         permits_size(route_.driver.restrictions, in_size) && !route_.driver.health.is_out();
}

// Whether the unit is done. If not, nothing of it is: inner starts from the untouched input.
bool XtsContext::run_hardware(unsigned char* out, std::size_t out_capacity, const unsigned char* in,
                              std::size_t in_size) noexcept {
  if (!goes_to_hardware(out, out_capacity, in, in_size)) return false;
  const kernel::CipherProgress progress = kernel::run_data_unit(
      *route_.pool, sessions_.current(),
      {route_.driver, direction_, key_.view(), tweak_.data(), in, out, in_size});
  if (progress.done == in_size) [[likely]] {
    route_.counters->hardware_calls.fetch_add(1, std::memory_order_relaxed);
    route_.counters->hardware_bytes.fetch_add(in_size, std::memory_order_relaxed);
    return true;
  }
  const kernel::Failure failure = progress.status.failure;
  const bool sandboxed = kernel::is_sandboxed(failure);
  if (failure == kernel::Failure::bad_key || sandboxed) hardware_from_ = SIZE_MAX;
  if (!progress.status && !sandboxed)
    route_.counters->fallbacks.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace kaccel
