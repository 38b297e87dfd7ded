// Where GCM messages go. That their bytes are right is tests/vectors' and tests/fuzz' to show.

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>
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

// What is refused in the middle of hardware's message leaves inner with a state of no use: it must
// not come back, however often something is refused.
TEST_F(GcmContextTest, GivesNothingMoreOfAMessageAfterRefusedParameters) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const CipherPointer cipher = fetch_cipher(kaccel.library(), "AES-128-GCM");
  const CipherContextPointer context(EVP_CIPHER_CTX_new());
  const Bytes key(16, 1);
  const Bytes iv(12, 2);
  Bytes data(64, 3);
  int written = 0;
  ASSERT_EQ(EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), iv.data(), nullptr), 1);
  ASSERT_EQ(EVP_EncryptUpdate(context.get(), data.data(), &written, data.data(), 64), 1);
  std::size_t iv_size = 12;
  const std::array refused{
      OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &iv_size),
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, data.data(), 0),
      OSSL_PARAM_construct_end()};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(EVP_CIPHER_CTX_set_params(context.get(), refused.data()), 0);
    EXPECT_EQ(EVP_EncryptUpdate(context.get(), nullptr, &written, data.data(), 13), 0);
    EXPECT_EQ(EVP_EncryptUpdate(context.get(), data.data(), &written, data.data(), 64), 0);
    EXPECT_EQ(EVP_EncryptFinal_ex(context.get(), data.data(), &written), 0);
  }
  ASSERT_EQ(EVP_EncryptInit_ex2(context.get(), nullptr, nullptr, iv.data(), nullptr), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context.get(), data.data(), &written, data.data(), 64), 1);
}

// An encryption in steps, on one of the two sides.
class GcmSteps {
 public:
  explicit GcmSteps(const LibraryContext& library)
      : cipher_(fetch_cipher(library, "AES-128-GCM")), context_(EVP_CIPHER_CTX_new()) {
    const Bytes key(16, 1);
    EXPECT_EQ(EVP_EncryptInit_ex2(get(), cipher_.get(), key.data(), nullptr, nullptr), 1);
    start();
  }

  EVP_CIPHER_CTX* get() const { return context_.get(); }
  void start() const {
    const Bytes iv(16, 2);
    EXPECT_EQ(EVP_EncryptInit_ex2(get(), nullptr, nullptr, iv.data(), nullptr), 1);
  }
  Bytes update(std::size_t size) const {
    Bytes data(size + 16, 3);
    int written = 0;
    EXPECT_EQ(EVP_EncryptUpdate(get(), data.data(), &written, data.data(), static_cast<int>(size)),
              1);
    return data;
  }
  int final() const {
    int written = 0;
    return EVP_EncryptFinal_ex(get(), nullptr, &written);
  }
  Bytes tag() const {
    Bytes tag(16);
    EXPECT_EQ(EVP_CIPHER_CTX_ctrl(get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data()), 1);
    return tag;
  }
  // Two parameters, of which the second one OpenSSL looks at is no good.
  void set_in_vain(const OSSL_PARAM& first, const OSSL_PARAM& second) const {
    const std::array refused{first, second, OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_CIPHER_CTX_set_params(get(), refused.data()), 0);
  }

 private:
  CipherPointer cipher_;
  CipherContextPointer context_;
};

TEST_F(GcmContextTest, KeepsTheTagThroughCallsThatDoNothing) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto tag = [](const LibraryContext& library) {
    const GcmSteps message(library);
    message.update(64);
    EXPECT_EQ(message.final(), 1);
    EXPECT_EQ(message.final(), 0);
    int written = 0;
    EXPECT_EQ(EVP_EncryptUpdate(message.get(), nullptr, &written, nullptr, 0), 1);
    return message.tag();
  };
  EXPECT_EQ(tag(kaccel.library()), tag(default_));
}

TEST_F(GcmContextTest, IsNotInTlsModeAfterATagThatWasRefusedBefore) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto text = [](const LibraryContext& library) {
    const GcmSteps message(library);
    message.update(64);
    Bytes aad(13, 0x17);
    message.set_in_vain(
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, aad.data(), aad.size()),
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, aad.data(), 0));
    message.start();
    return message.update(64);
  };
  EXPECT_EQ(text(kaccel.library()), text(default_));
}

TEST_F(GcmContextTest, FollowsAnIvLengthThatWasTakenBeforeARefusal) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto record = [](const LibraryContext& library) {
    const GcmSteps message(library);
    Bytes bytes(16, 0x17);
    std::size_t iv_size = 16;
    EXPECT_EQ(EVP_CIPHER_CTX_ctrl(message.get(), EVP_CTRL_AEAD_SET_IV_FIXED, -1, bytes.data()), 1);
    message.set_in_vain(OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &iv_size),
                        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, &iv_size));
    EXPECT_EQ(EVP_CIPHER_CTX_ctrl(message.get(), EVP_CTRL_AEAD_TLS1_AAD, 13, bytes.data()), 16);
    return message.update(200);
  };
  EXPECT_EQ(record(kaccel.library()), record(default_));
}

// Before the first init OpenSSL takes a header for one to decrypt.
TEST_F(GcmContextTest, TakesATlsHeaderBeforeTheFirstInit) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto record = [](const LibraryContext& library) {
    const CipherPointer cipher = fetch_cipher(library, "AES-128-GCM");
    const CipherContextPointer context(EVP_CIPHER_CTX_new());
    std::size_t no_size = 1000;
    const std::array refused{OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &no_size),
                             OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_EncryptInit_ex2(context.get(), cipher.get(), nullptr, nullptr, refused.data()),
              0);
    Bytes bytes(16, 0x17);
    EXPECT_EQ(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IV_FIXED, -1, bytes.data()), 1);
    EXPECT_EQ(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_TLS1_AAD, 13, bytes.data()), 16);
    EXPECT_EQ(EVP_EncryptInit_ex2(context.get(), nullptr, bytes.data(), bytes.data(), nullptr), 1);
    Bytes data(200, 3);
    int written = 0;
    EXPECT_EQ(EVP_EncryptUpdate(context.get(), data.data(), &written, data.data(), 200), 1);
    return data;
  };
  EXPECT_EQ(record(kaccel.library()), record(default_));
}

// Of the last encryption's tag OpenSSL keeps what a shorter one does not overwrite.
TEST_F(GcmContextTest, KeepsTheRestOfAnOldTagUnderAShorterOne) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto tag = [](const LibraryContext& library) {
    const GcmSteps message(library);
    message.update(64);
    EXPECT_EQ(message.final(), 1);
    Bytes bytes(5, 0x17);
    const std::array params{
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, bytes.data(), bytes.size()),
        OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_DecryptInit_ex2(message.get(), nullptr, nullptr, nullptr, params.data()), 1);
    EXPECT_EQ(EVP_EncryptInit_ex2(message.get(), nullptr, nullptr, nullptr, nullptr), 1);
    return message.tag();
  };
  EXPECT_EQ(tag(kaccel.library()), tag(default_));
}

// Turned round in its middle, a message is compared with the last tag there was. What a mistaken
// comparison leaves OpenSSL goes on with and kaccel may refuse, but never gives other bytes.
TEST_F(GcmContextTest, ComparesAMessageTurnedRoundWithTheLastTag) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto turn_round = [](const GcmSteps& message) {
    EXPECT_EQ(EVP_DecryptInit_ex2(message.get(), nullptr, nullptr, nullptr, nullptr), 1);
    int written = 0;
    return EVP_DecryptFinal_ex(message.get(), nullptr, &written);
  };
  struct Answers {
    int before_any_tag = 0;
    Bytes tag_after_it;
    int same_message = 0;
    int other_message = 0;
    int goes_on = 0;
  };
  const auto answers = [&](const LibraryContext& library) {
    const GcmSteps message(library);
    Answers all;
    message.update(64);
    all.before_any_tag = turn_round(message);
    EXPECT_EQ(EVP_EncryptInit_ex2(message.get(), nullptr, nullptr, nullptr, nullptr), 1);
    EXPECT_EQ(message.final(), 1);
    all.tag_after_it = message.tag();
    message.start();
    message.update(64);
    all.same_message = turn_round(message);
    EXPECT_EQ(EVP_EncryptInit_ex2(message.get(), nullptr, nullptr, nullptr, nullptr), 1);
    message.start();
    message.update(80);
    all.other_message = turn_round(message);
    EXPECT_EQ(EVP_EncryptInit_ex2(message.get(), nullptr, nullptr, nullptr, nullptr), 1);
    Bytes more(32, 3);
    int written = 0;
    all.goes_on = EVP_EncryptUpdate(message.get(), more.data(), &written, more.data(), 16);
    return all;
  };
  const Answers here = answers(kaccel.library());
  const Answers there = answers(default_);
  EXPECT_EQ(here.before_any_tag, there.before_any_tag);
  EXPECT_EQ(here.tag_after_it, there.tag_after_it);
  EXPECT_EQ(there.same_message, 1);
  EXPECT_EQ(here.same_message, there.same_message);
  EXPECT_EQ(here.other_message, there.other_message);
  EXPECT_EQ(here.goes_on, 0) << "its tag would be another than OpenSSL's";
  EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
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
