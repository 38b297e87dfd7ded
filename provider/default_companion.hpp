// Brings OpenSSL's default provider along.
//
// Activating any provider turns off the default provider's implicit activation. A machine whose
// openssl.cnf activates kaccel alone would have no RSA, no random numbers and no ssh.
#pragma once

#include <openssl/provider.h>

namespace kaccel {

class DefaultCompanion {
 public:
  DefaultCompanion() = default;
  DefaultCompanion(const DefaultCompanion&) = delete;
  DefaultCompanion& operator=(const DefaultCompanion&) = delete;
  ~DefaultCompanion();

  // Loads "default" into the application's library context unless it is there. False, with
  // OpenSSL's error raised, when it cannot be loaded.
  bool join(OSSL_LIB_CTX* library_context) noexcept;

 private:
  OSSL_PROVIDER* provider_ = nullptr;
};

}  // namespace kaccel
