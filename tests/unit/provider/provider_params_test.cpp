// What OSSL_PROVIDER_get_params answers.

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

std::string text(const KaccelUnderTest& kaccel, const char* name) {
  char* value = nullptr;
  std::array params{OSSL_PARAM_construct_utf8_ptr(name, &value, 0), OSSL_PARAM_construct_end()};
  EXPECT_EQ(OSSL_PROVIDER_get_params(kaccel.library().provider(), params.data()), 1);
  return value == nullptr ? "" : value;
}

int encrypt(const KaccelUnderTest& kaccel, std::size_t size) {
  const CipherPointer cipher = fetch_cipher(kaccel.library(), "AES-128-CBC");
  const CipherContextPointer context(EVP_CIPHER_CTX_new());
  const std::vector<std::uint8_t> zeros(size + 16);
  std::vector<std::uint8_t> out(size + 16);
  int written = 0;
  return EVP_EncryptInit_ex2(context.get(), cipher.get(), zeros.data(), zeros.data(), nullptr) &&
         EVP_EncryptUpdate(context.get(), out.data(), &written, zeros.data(),
                           static_cast<int>(size));
}

class ProviderParamsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (on_real_kernel()) GTEST_SKIP() << "counts what the fake transport is asked for";
  }
};

TEST_F(ProviderParamsTest, NameTheProviderAndSayWhatItDoes) {
  const KaccelUnderTest routed(settings_with_thresholds(512, 512));
  EXPECT_NE(text(routed, OSSL_PROV_PARAM_NAME), "");
  EXPECT_NE(text(routed, OSSL_PROV_PARAM_VERSION), "");
  EXPECT_NE(text(routed, OSSL_PROV_PARAM_BUILDINFO).find("calibrated"), std::string::npos);
  const KaccelUnderTest software{Settings{}};
  EXPECT_NE(text(software, OSSL_PROV_PARAM_BUILDINFO).find("software only"), std::string::npos);
  int status = 0;
  std::array params{OSSL_PARAM_construct_int(OSSL_PROV_PARAM_STATUS, &status),
                    OSSL_PARAM_construct_end()};
  EXPECT_EQ(OSSL_PROVIDER_get_params(routed.library().provider(), params.data()), 1);
  EXPECT_EQ(status, 1);
}

TEST_F(ProviderParamsTest, ListEachOfThem) {
  const KaccelUnderTest kaccel(settings_with_thresholds(512, 512));
  const OSSL_PARAM* table = OSSL_PROVIDER_gettable_params(kaccel.library().provider());
  for (const char* name :
       {"name", "version", "buildinfo", "status", "hardware-calls", "hardware-bytes", "fallbacks",
        "requests", "sessions-opened", "sessions-open", "keys-loaded"}) {
    EXPECT_NE(OSSL_PARAM_locate_const(table, name), nullptr) << name;
  }
}

TEST_F(ProviderParamsTest, CountNothingForCallsThatStayInSoftware) {
  const KaccelUnderTest kaccel(settings_with_thresholds(512, 512));
  EXPECT_EQ(encrypt(kaccel, 512), 1);
  for (const char* counter : {"hardware-calls", "hardware-bytes", "fallbacks", "requests",
                              "sessions-opened", "keys-loaded"}) {
    EXPECT_EQ(kaccel.counter(counter), 0U) << counter;
  }
  EXPECT_EQ(kaccel.fake()->calls(FakeTransport::Step::open), 0U);
}

TEST_F(ProviderParamsTest, CountWhatHardwareDid) {
  const KaccelUnderTest kaccel(settings_with_thresholds(512, 512));
  kaccel.fake()->set_max_request(1024);
  EXPECT_EQ(encrypt(kaccel, 2064), 1);
  EXPECT_EQ(encrypt(kaccel, 1024), 1);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 2U);
  EXPECT_EQ(kaccel.counter("hardware-bytes"), 2064U + 1024U);
  EXPECT_EQ(kaccel.counter("requests"), 4U);
  EXPECT_EQ(kaccel.counter("sessions-opened"), 1U);
  EXPECT_EQ(kaccel.counter("sessions-open"), 1U);
  EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
}

TEST_F(ProviderParamsTest, CountACallThatSoftwareFinished) {
  const KaccelUnderTest kaccel(settings_with_thresholds(512, 512));
  kaccel.fake()->set_max_request(1024);
  kaccel.fake()->fail(FakeTransport::Step::crypt, kernel::Failure::driver_error, 2);
  EXPECT_EQ(encrypt(kaccel, 2048), 1);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 0U);
  EXPECT_EQ(kaccel.counter("hardware-bytes"), 1024U);
  EXPECT_EQ(kaccel.counter("requests"), 2U) << "the driver has seen both";
  EXPECT_EQ(kaccel.counter("fallbacks"), 1U);
}

TEST_F(ProviderParamsTest, CountNoRequestThatWasNotSent) {
  const KaccelUnderTest kaccel(settings_with_thresholds(512, 512));
  for (const auto failure : {kernel::Failure::descriptor_lost, kernel::Failure::no_memory}) {
    kaccel.fake()->fail(FakeTransport::Step::crypt, failure);
    EXPECT_EQ(encrypt(kaccel, 1024), 1);
    EXPECT_EQ(encrypt(kaccel, 1024), 1);  // passed over, since the shortage may last
  }
  EXPECT_EQ(kaccel.counter("fallbacks"), 4U);
  EXPECT_EQ(kaccel.counter("requests"), 0U);
  kaccel.fake()->fail(FakeTransport::Step::set_key, kernel::Failure::bad_key, 1, 2);
  EXPECT_EQ(encrypt(kaccel, 1024), 1);
  EXPECT_EQ(kaccel.counter("keys-loaded"), 2U) << "of the calls before";
}

}  // namespace
}  // namespace kaccel::testing
