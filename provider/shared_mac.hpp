// A software MAC context that several holders share until one of them changes it.
//
// libssl duplicates its HMAC context twice a record, and OpenSSL copies three digest contexts each
// time. Where the message goes to hardware none of the copies is ever looked at.
#pragma once

#include <atomic>
#include <cstddef>

#include "provider/mac_functions.hpp"

namespace kaccel {

class SharedMac {
 public:
  SharedMac() = default;
  // Shares; copies nothing.
  SharedMac(const SharedMac& other) noexcept;
  SharedMac& operator=(const SharedMac&) = delete;
  ~SharedMac();

  // Makes the context. False when OpenSSL cannot.
  bool create(const MacFunctions& functions, void* provider_context) noexcept;

  // To read from: also others may hold it.
  void* get() const noexcept { return shared_->context; }
  // To change: this holder's own from now on. nullptr when it cannot be copied.
  void* own() noexcept {
    return shared_->holders.load(std::memory_order_acquire) == 1 ? shared_->context : copy();
  }

 private:
  struct Shared {
    const MacFunctions& functions;
    void* context;
    std::atomic<std::size_t> holders{1};

    void let_go() noexcept;
  };

  [[gnu::noinline]] void* copy() noexcept;

  Shared* shared_ = nullptr;
};

}  // namespace kaccel
