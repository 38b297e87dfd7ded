// kaccel loaded into a library context of its own, on a transport that is chosen at run time:
//
//   KACCEL_TEST_TRANSPORT=fake    (default) FakeTransport
//   KACCEL_TEST_TRANSPORT=afalg   the running kernel, with the drivers that
//   KACCEL_TEST_DRIVERS="cbc(aes)=cbc-aes-qce,ctr(aes)=ctr-aes-qce"   names; an algorithm without a
//                                 driver stays in software
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "provider/settings.hpp"
#include "tests/support/evp.hpp"
#include "tests/support/fake_transport.hpp"

namespace kaccel::testing {

bool on_real_kernel();

// The driver of a kernel algorithm: "fake" on the fake transport. "" where there is none.
std::string driver_for(kernel::Algorithm algorithm);

// Whether calls of this algorithm can reach a driver at all, given thresholds that let them.
bool has_hardware(std::string_view algorithm);

// Every algorithm with its driver, at these thresholds.
Settings settings_with_thresholds(Threshold encrypt, Threshold decrypt);

class KaccelUnderTest {
 public:
  // Throws std::runtime_error when kaccel does not load.
  explicit KaccelUnderTest(const Settings& settings);

  const LibraryContext& library() const noexcept { return library_; }
  // nullptr on the real kernel.
  FakeTransport* fake() const noexcept { return fake_.get(); }
  // One of the provider's counters (provider_params.hpp). Throws std::runtime_error when it has no
  // such.
  std::uint64_t counter(const char* name) const;

 private:
  std::unique_ptr<FakeTransport> fake_;  // outlives the provider
  LibraryContext library_;
};

// The same for a provider that was loaded another way.
std::uint64_t provider_counter(OSSL_PROVIDER* kaccel, const char* name);

// A number from the environment, or `fallback` where it is not set. Throws std::runtime_error when
// it is not a number.
std::uint64_t number_from_environment(const char* name, std::uint64_t fallback);

}  // namespace kaccel::testing
