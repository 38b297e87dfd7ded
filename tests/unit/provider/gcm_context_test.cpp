// Where GCM messages go. That their bytes are right is tests/vectors' and tests/fuzz' to show.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

class GcmContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (on_real_kernel()) GTEST_SKIP() << "counts what the fake transport is asked for";
  }

  struct Message {
    std::vector<std::size_t> updates;
    std::size_t iv_size = 12;
    std::size_t aad_size = 13;
    const char* algorithm = "AES-128-GCM";
  };
  struct Result {
    Bytes text;
    Bytes tag = Bytes(16);
    friend bool operator==(const Result&, const Result&) = default;
  };

  // Encrypts on both sides, compares, and returns how many calls hardware answered.
  std::uint64_t encrypt(const KaccelUnderTest& kaccel, const Message& message) {
    const std::uint64_t before = kaccel.counter("hardware-calls");
    EXPECT_EQ(through(kaccel.library(), message), through(default_, message));
    return kaccel.counter("hardware-calls") - before;
  }

  static Result through(const LibraryContext& library, const Message& message) {
    const CipherPointer cipher = fetch_cipher(library, message.algorithm);
    const CipherContextPointer context(EVP_CIPHER_CTX_new());
    const Bytes key(32, 0x11);
    const Bytes iv(message.iv_size, 0x22);
    const Bytes aad(message.aad_size, 0x33);
    Result result;
    int written = 0;
    EXPECT_EQ(EVP_EncryptInit_ex2(context.get(), cipher.get(), nullptr, nullptr, nullptr), 1);
    EXPECT_EQ(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN,
                                  static_cast<int>(message.iv_size), nullptr),
              1);
    EXPECT_EQ(EVP_EncryptInit_ex2(context.get(), nullptr, key.data(), iv.data(), nullptr), 1);
    EXPECT_EQ(EVP_EncryptUpdate(context.get(), nullptr, &written, aad.data(),
                                static_cast<int>(aad.size())),
              1);
    for (const std::size_t size : message.updates) {
      const Bytes data(size, 0x44);
      Bytes out(size + 16);
      EXPECT_EQ(EVP_EncryptUpdate(context.get(), out.data(), &written, data.data(),
                                  static_cast<int>(size)),
                1);
      result.text.insert(result.text.end(), out.begin(), out.begin() + written);
    }
    EXPECT_EQ(EVP_EncryptFinal_ex(context.get(), result.tag.data(), &written), 1);
    EXPECT_EQ(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, 16, result.tag.data()), 1);
    return result;
  }

  const LibraryContext default_ = LibraryContext::with_default_provider();
};

TEST_F(GcmContextTest, DecidesAtTheFirstDataOfAMessage) {
  const KaccelUnderTest kaccel(settings_with_thresholds(512, 512));
  EXPECT_EQ(encrypt(kaccel, {{512}}), 0U);
  EXPECT_EQ(encrypt(kaccel, {{528}}), 1U);
  EXPECT_EQ(encrypt(kaccel, {{100, 4096}}), 0U) << "the message is OpenSSL's already";
  EXPECT_EQ(encrypt(kaccel, {{4096, 100, 4096}}), 2U) << "100 bytes are within the threshold";
  EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
}

TEST_F(GcmContextTest, LeavesOtherIvLengthsToSoftware) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  EXPECT_EQ(encrypt(kaccel, {.updates = {4096}, .iv_size = 16}), 0U);
  EXPECT_EQ(encrypt(kaccel, {.updates = {4096}, .iv_size = 8}), 0U);
  EXPECT_EQ(encrypt(kaccel, {.updates = {4096}, .iv_size = 12}), 1U);
}

TEST_F(GcmContextTest, DoesWithoutHardwareWhatTheDriverFails) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  kaccel.fake()->fail(FakeTransport::Step::crypt, kernel::Failure::driver_error, 2);
  EXPECT_EQ(encrypt(kaccel, {{1024, 1024, 1024}}), 2U);
  EXPECT_EQ(kaccel.counter("fallbacks"), 1U);
}

TEST_F(GcmContextTest, LoadsItsKeyOnceForManyMessages) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const CipherPointer cipher = fetch_cipher(kaccel.library(), "AES-256-GCM");
  const CipherContextPointer context(EVP_CIPHER_CTX_new());
  const Bytes key(32, 1);
  Bytes iv(12, 2);
  const Bytes data(4096, 3);
  Bytes out(4096);
  int written = 0;
  for (int i = 0; i < 20; ++i) {
    ++iv[0];
    ASSERT_EQ(EVP_EncryptInit_ex2(context.get(), i == 0 ? cipher.get() : nullptr, key.data(),
                                  iv.data(), nullptr),
              1);
    ASSERT_EQ(EVP_EncryptUpdate(context.get(), out.data(), &written, data.data(), 4096), 1);
    ASSERT_EQ(EVP_EncryptFinal_ex(context.get(), out.data(), &written), 1);
  }
  EXPECT_EQ(kaccel.counter("keys-loaded"), 1U);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 20U);
}

TEST_F(GcmContextTest, KeepsTheKeySizesOfTheDriver) {
  Settings qce = settings_with_thresholds(0, 0);
  for (AlgorithmSettings& row : qce.algorithms) row.driver = "ctr-aes-qce";
  const KaccelUnderTest kaccel(qce);
  EXPECT_EQ(encrypt(kaccel, {.updates = {4096}, .algorithm = "AES-192-GCM"}), 0U);
  EXPECT_EQ(encrypt(kaccel, {.updates = {4096}, .algorithm = "AES-256-GCM"}), 1U);
  EXPECT_EQ(encrypt(kaccel, {.updates = {16}, .algorithm = "AES-256-GCM"}), 0U);
  EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
}

}  // namespace
}  // namespace kaccel::testing
