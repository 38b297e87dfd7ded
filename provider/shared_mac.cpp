#include "provider/shared_mac.hpp"

#include <new>

namespace kaccel {

void SharedMac::Shared::let_go() noexcept {
  if (holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  functions.freectx(context);
  delete this;
}

SharedMac::SharedMac(const SharedMac& other) noexcept : shared_(other.shared_) {
  if (shared_ != nullptr) shared_->holders.fetch_add(1, std::memory_order_relaxed);
}

SharedMac::~SharedMac() {
  if (shared_ != nullptr) shared_->let_go();
}

bool SharedMac::create(const MacFunctions& functions, void* provider_context) noexcept {
  void* context = functions.newctx(provider_context);
  if (context == nullptr) return false;
  shared_ = new (std::nothrow) Shared{functions, context};
  if (shared_ == nullptr) functions.freectx(context);
  return shared_ != nullptr;
}

void* SharedMac::copy() noexcept {
  void* context = shared_->functions.dupctx(shared_->context);
  if (context == nullptr) return nullptr;
  auto* mine = new (std::nothrow) Shared{shared_->functions, context};
  if (mine == nullptr) {
    shared_->functions.freectx(context);
    return nullptr;
  }
  shared_->let_go();
  shared_ = mine;
  return context;
}

}  // namespace kaccel
