// A library context as an application has it: OpenSSL's default provider, and beside it kaccel,
// preferred as openssl.cnf's default_properties would.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {

class TlsLibrary {
 public:
  // OpenSSL alone.
  TlsLibrary();
  // With kaccel. Throws std::runtime_error when it does not load.
  explicit TlsLibrary(const Settings& settings);

  OSSL_LIB_CTX* get() const noexcept { return default_.get(); }
  bool has_kaccel() const noexcept { return kaccel_ != nullptr; }
  // One of kaccel's counters.
  std::uint64_t counter(const char* name) const;
  // nullptr on the real kernel and without kaccel.
  const FakeTransport* fake() const noexcept { return fake_.get(); }

 private:
  std::unique_ptr<FakeTransport> fake_;  // outlives the provider
  LibraryContext default_;
  ProviderPointer kaccel_;  // goes first
};

// The thresholds that a calibration of the machine has found: those of the configuration that
// KACCEL_TEST_CONFIGURATION names; without one, 512 bytes for all.
Settings calibrated_settings();

}  // namespace kaccel::testing
