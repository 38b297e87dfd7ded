// OpenSSL as an application uses it: private library contexts, and one cipher on one long-lived
// context.
#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/transport.hpp"
#include "provider/algorithms.hpp"
#include "provider/settings.hpp"

namespace kaccel::calibrate {

// what() ends in OpenSSL's own reason where it gave one.
struct OpensslError : std::runtime_error {
  explicit OpensslError(const std::string& what);
};

// Whether OpenSSL has the algorithm in its legacy provider alone (single DES).
bool needs_legacy(const Algorithm& algorithm) noexcept;

// Whether that provider's module is installed.
bool legacy_is_installed() noexcept;

// A library context that reads no configuration and has the providers that it was made with.
class OpensslContext {
 public:
  static OpensslContext with_default();
  // The default provider, and the legacy one where the algorithm needs it.
  static OpensslContext with_software_of(const Algorithm& algorithm);
  static OpensslContext with_kaccel(const Settings& settings, kernel::Transport& transport);

  OSSL_LIB_CTX* get() const noexcept { return libctx_.get(); }

  // kaccel's own counts: requests that reached a driver, and calls that should have and did not.
  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t fallbacks = 0;
  };
  Counters counters() const;

 private:
  struct FreeLibctx {
    void operator()(OSSL_LIB_CTX* libctx) const noexcept { OSSL_LIB_CTX_free(libctx); }
  };
  struct Unload {
    void operator()(OSSL_PROVIDER* provider) const noexcept { OSSL_PROVIDER_unload(provider); }
  };

  OpensslContext();

  std::unique_ptr<OSSL_LIB_CTX, FreeLibctx> libctx_;
  std::unique_ptr<OSSL_PROVIDER, Unload> provider_;  // after libctx_: unloaded first
  std::unique_ptr<OSSL_PROVIDER, Unload> legacy_;
};

struct FreeCipher {
  void operator()(EVP_CIPHER* cipher) const noexcept { EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};

// A cipher without padding, in one direction, that is fed one update after the other.
class CipherStream {
 public:
  // `algorithm` is OpenSSL's name. Sizes of key and IV must be the algorithm's; an ECB mode takes
  // an empty IV.
  CipherStream(const OpensslContext& context, const char* algorithm, kernel::Direction direction,
               std::span<const std::uint8_t> key, std::span<const std::uint8_t> iv);

  // Returns the bytes written, which for a block mode may be up to a block more or less than
  // `size`. An XTS mode takes each update for a data unit under the same tweak. `output` may be
  // `input`.
  std::size_t update(const std::uint8_t* input, std::size_t size, std::uint8_t* output);

 private:
  std::unique_ptr<EVP_CIPHER, FreeCipher> cipher_;
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context_;
};

}  // namespace kaccel::calibrate
