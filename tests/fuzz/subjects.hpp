// The two that are compared, loaded once a process: OpenSSL's own providers, and kaccel on a driver
// that really ciphers. Configuring kaccel is a matter of setting its routes, so that each input can
// have a configuration of its own.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "kernel-bridge/session_pool.hpp"
#include "provider/provider_context.hpp"
#include "tests/fuzz/configuration.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::fuzzing {

// A cipher on both sides.
struct CipherSubject {
  const EVP_CIPHER* reference;
  const EVP_CIPHER* kaccel;
};

struct FreeMac {
  void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
};
using MacPointer = std::unique_ptr<EVP_MAC, FreeMac>;

class Subjects {
 public:
  // Throws std::runtime_error when something does not load.
  Subjects();

  // Before the first context of an input is made.
  void configure(const Configuration& configuration);

  // After the last one is gone. Throws Difference when kaccel asked the driver for what it must
  // not, or kept something open.
  void check_driver();

  // Of this row of algorithm_table; nothing where OpenSSL has no such cipher.
  std::optional<CipherSubject> cipher(std::size_t row) const;
  const EVP_MAC* reference_hmac() const noexcept { return reference_hmac_.get(); }
  const EVP_MAC* kaccel_hmac() const noexcept { return side().hmac.get(); }

  // Where EVP finds the default provider and, as far as it goes, kaccel before it.
  OSSL_LIB_CTX* reference_library() const noexcept { return reference_.get(); }
  OSSL_LIB_CTX* kaccel_library() const noexcept { return side().kaccel->library().get(); }

  // How far the inputs so far came: "12 calls by hardware, ...".
  std::string summary() const;

 private:
  using Ciphers = std::array<testing::CipherPointer, cipher_count>;
  // A kaccel that has no route at all passes OpenSSL's functions on, and must be another one.
  struct Side {
    std::unique_ptr<testing::KaccelUnderTest> kaccel;
    testing::ProviderPointer default_provider;
    Ciphers ciphers;
    MacPointer hmac;
  };

  static std::unique_ptr<Side> load_side(Threshold threshold);
  const Side& side() const noexcept { return has_routes_ ? *routed_ : *software_; }
  ProviderContext& provider() noexcept;
  void configure_driver(const Configuration& configuration);
  void configure_cipher(CipherRoute& route, const Configuration& configuration);
  void configure_macs(const Configuration& configuration);
  void renew();

  testing::LibraryContext reference_;
  testing::ProviderPointer legacy_;
  Ciphers reference_ciphers_;
  MacPointer reference_hmac_;
  std::unique_ptr<Side> routed_;
  std::unique_ptr<Side> software_;
  bool has_routes_ = true;
  std::optional<kernel::SessionPool> pool_;  // an input's own
  std::uint64_t hardware_calls_ = 0;         // of Sides that are gone
  std::uint64_t fallbacks_ = 0;
};

}  // namespace kaccel::fuzzing
