// A software MAC context that several holders share until one of them changes it.
//
// libssl duplicates its HMAC context twice a record, and OpenSSL copies three digest contexts each
// time. Where the message goes to hardware none of the copies is ever looked at.
#pragma once

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
  void* get() const noexcept;
  // To change: this holder's own from now on. nullptr when it cannot be copied.
  void* own() noexcept;

 private:
  struct Shared;
  Shared* shared_ = nullptr;
};

}  // namespace kaccel
