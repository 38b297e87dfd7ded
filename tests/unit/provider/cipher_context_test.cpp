// What a context does beside giving right bytes (which tests/differential compares): where calls
// go, what they cost, and the corners that random calls do not reach.

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/tls1.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernel-bridge/driver_health.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Step = FakeTransport::Step;

class CipherContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (on_real_kernel()) GTEST_SKIP() << "counts what the fake transport is asked for";
  }

  struct Evp {
    CipherPointer cipher;
    CipherContextPointer context{EVP_CIPHER_CTX_new()};

    Evp(const LibraryContext& library, const char* name) : cipher(fetch_cipher(library, name)) {}

    int init(const Bytes& key, const Bytes& iv, int encrypt = 1) {
      return EVP_CipherInit_ex2(context.get(), cipher.get(), key.data(), iv.data(), encrypt,
                                nullptr);
    }
    Bytes update(const Bytes& in) {
      Bytes out(in.size() + 16);
      int written = 0;
      EXPECT_EQ(EVP_CipherUpdate(context.get(), out.data(), &written, in.data(),
                                 static_cast<int>(in.size())),
                1);
      out.resize(static_cast<std::size_t>(written));
      return out;
    }
  };

  const Bytes key_ = Bytes(16, 0x11);
  const Bytes other_key_ = Bytes(16, 0x22);
  const Bytes iv_ = Bytes(16, 0x33);
  const Bytes data_ = Bytes(1024, 0x44);
  const LibraryContext default_ = LibraryContext::with_default_provider();
};

TEST_F(CipherContextTest, LoadsItsKeyOnceForManyCalls) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  Evp evp(kaccel.library(), "AES-128-CBC");
  ASSERT_EQ(evp.init(key_, iv_), 1);
  for (int i = 0; i < 50; ++i) evp.update(data_);
  EXPECT_EQ(kaccel.counter("keys-loaded"), 1U);
}

TEST_F(CipherContextTest, DoesNotLoadAKeyAgainThatIsSetAgain) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  Evp evp(kaccel.library(), "AES-128-CBC");
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(EVP_CipherInit_ex2(evp.context.get(), i == 0 ? evp.cipher.get() : nullptr,
                                 key_.data(), iv_.data(), 1, nullptr),
              1);
    evp.update(data_);
  }
  EXPECT_EQ(kaccel.counter("keys-loaded"), 1U);
}

TEST_F(CipherContextTest, SharesItsKeyWithACopy) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  Evp evp(kaccel.library(), "AES-128-CBC");
  ASSERT_EQ(evp.init(key_, iv_), 1);
  evp.update(data_);
  const CipherContextPointer copy(EVP_CIPHER_CTX_new());
  ASSERT_EQ(EVP_CIPHER_CTX_copy(copy.get(), evp.context.get()), 1);
  evp.context.reset();
  Bytes out(data_.size() + 16);
  int written = 0;
  ASSERT_EQ(EVP_CipherUpdate(copy.get(), out.data(), &written, data_.data(), 1024), 1);
  EXPECT_EQ(kaccel.counter("keys-loaded"), 1U);
}

TEST_F(CipherContextTest, LoadsItsKeyOnceForEachDirection) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  for (const char* name : {"AES-128-CBC", "AES-128-CTR", "AES-128-XTS"}) {
    Bytes key = key_;
    if (std::string_view(name).ends_with("XTS")) key.resize(32);
    const std::uint64_t before = kaccel.counter("keys-loaded");
    Evp evp(kaccel.library(), name);
    // Without naming the cipher again, with which EVP would begin with a new context.
    ASSERT_EQ(evp.init(key, iv_), 1);
    CipherContextPointer copy(EVP_CIPHER_CTX_new());
    for (int i = 0; i < 10; ++i) {
      ASSERT_EQ(
          EVP_CipherInit_ex2(evp.context.get(), nullptr, key.data(), iv_.data(), i % 2, nullptr),
          1);
      evp.update(data_);
      if (i == 5) {
        ASSERT_EQ(EVP_CIPHER_CTX_copy(copy.get(), evp.context.get()), 1);
        evp.context.swap(copy);
        copy.reset();
      }
    }
    EXPECT_EQ(kaccel.counter("keys-loaded") - before, 2U) << name;
    // Another key must not meet a session of the old one, in either direction.
    key[0] ^= 1;
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(EVP_CipherInit_ex2(evp.context.get(), nullptr, key.data(), iv_.data(), i, nullptr),
                1);
      Evp reference(default_, name);
      ASSERT_EQ(reference.init(key, iv_, i), 1);
      EXPECT_EQ(evp.update(data_), reference.update(data_)) << name;
    }
    EXPECT_EQ(kaccel.counter("keys-loaded") - before, 4U) << name;
  }
  EXPECT_EQ(kaccel.counter("sessions-open"), 6U);
}

TEST_F(CipherContextTest, UsesTheThresholdOfItsDirection) {
  const KaccelUnderTest kaccel(settings_with_thresholds(2048, 16));
  Evp evp(kaccel.library(), "AES-128-CBC");
  ASSERT_EQ(evp.init(key_, iv_, 1), 1);
  evp.update(data_);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 0U);
  ASSERT_EQ(evp.init(key_, iv_, 0), 1);
  evp.update(data_);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 1U);
}

// Partial blocks before and after, so that every part of a call is there.
TEST_F(CipherContextTest, GivesHardwareTheWholeBlocksOfACallAndNothingElse) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  for (const char* name : {"AES-128-CBC", "AES-128-CTR", "AES-128-ECB"}) {
    const std::uint64_t before = kaccel.counter("hardware-bytes");
    Evp evp(kaccel.library(), name);
    ASSERT_EQ(evp.init(key_, iv_), 1);
    evp.update(Bytes(5));
    evp.update(Bytes(11 + 64 + 3));
    EXPECT_EQ(kaccel.counter("hardware-bytes") - before, 64U) << name;
  }
}

TEST_F(CipherContextTest, KeepsThePaddingOfAMessageFromHardware) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  Evp evp(kaccel.library(), "AES-128-CBC");
  ASSERT_EQ(evp.init(key_, iv_, 0), 1);
  evp.update(data_);  // its last block may hold the padding
  EXPECT_EQ(kaccel.counter("hardware-bytes"), 1024U - 16U);
}

TEST_F(CipherContextTest, TriesAnotherKeyAfterTheDriverRefusedOne) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  Evp evp(kaccel.library(), "AES-128-CBC");
  kaccel.fake()->fail(Step::set_key, kernel::Failure::bad_key);
  ASSERT_EQ(evp.init(key_, iv_), 1);
  evp.update(data_);
  evp.update(data_);
  EXPECT_EQ(kaccel.fake()->calls(Step::set_key), 1U) << "it was refused already";
  ASSERT_EQ(evp.init(other_key_, iv_), 1);
  evp.update(data_);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 1U);
}

TEST_F(CipherContextTest, StopsAskingADriverThatKeepsFailing) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  kaccel.fake()->fail(Step::crypt, kernel::Failure::driver_error, 1, 1000);
  Evp evp(kaccel.library(), "AES-128-CBC");
  ASSERT_EQ(evp.init(key_, iv_), 1);
  for (int i = 0; i < 50; ++i) evp.update(data_);
  EXPECT_EQ(kaccel.fake()->calls(Step::crypt), kernel::DriverHealth::most_failures);
  EXPECT_EQ(kaccel.counter("fallbacks"), kernel::DriverHealth::most_failures);
}

TEST_F(CipherContextTest, LeavesNoErrorBehindWhenTheDriverFails) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  for (const Step step : {Step::open, Step::set_key, Step::crypt}) {
    kaccel.fake()->fail(step, kernel::Failure::no_memory);
    ERR_clear_error();
    Evp evp(kaccel.library(), "AES-128-CBC");
    ASSERT_EQ(evp.init(key_, iv_), 1);
    evp.update(data_);
    EXPECT_EQ(ERR_peek_error(), 0U);
  }
  EXPECT_GT(kaccel.counter("fallbacks"), 0U);
}

// The default provider takes the key before it looks at the parameters.
TEST_F(CipherContextTest, NeverUsesTheOldKeyAfterAnInitThatFailed) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto run = [&](const LibraryContext& library) {
    Evp evp(library, "AES-128-CBC");
    EXPECT_EQ(evp.init(key_, iv_), 1);
    evp.update(data_);
    std::string wrong_type = "yes";
    std::array params{
        OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_PADDING, wrong_type.data(), 0),
        OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_EncryptInit_ex2(evp.context.get(), nullptr, other_key_.data(), iv_.data(),
                                  params.data()),
              0);
    EXPECT_EQ(EVP_EncryptInit_ex2(evp.context.get(), nullptr, nullptr, iv_.data(), nullptr), 1);
    return evp.update(data_);
  };
  EXPECT_EQ(run(kaccel.library()), run(default_));
  ERR_clear_error();
}

// The default provider has turned padding off by the time it finds the other one wrong.
TEST_F(CipherContextTest, DoesNotLoseTrackOfParametersThatWereSetHalfway) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto run = [&](const LibraryContext& library, bool at_init) {
    Evp evp(library, "AES-128-CBC");
    EXPECT_EQ(evp.init(key_, iv_, 0), 1);
    unsigned int padding = 0;
    std::string wrong_type = "five";
    std::array params{OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &padding),
                      OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_NUM, wrong_type.data(), 0),
                      OSSL_PARAM_construct_end()};
    Bytes all;
    const auto append = [&all](const Bytes& bytes) {
      all.insert(all.end(), bytes.begin(), bytes.end());
    };
    if (at_init) {
      EXPECT_EQ(
          EVP_DecryptInit_ex2(evp.context.get(), nullptr, key_.data(), iv_.data(), params.data()),
          0);
    } else {
      EXPECT_EQ(EVP_CIPHER_CTX_set_params(evp.context.get(), params.data()), 0);
      for (int i = 0; i < 3; ++i) append(evp.update(data_));
    }
    EXPECT_EQ(EVP_DecryptInit_ex2(evp.context.get(), nullptr, key_.data(), iv_.data(), nullptr), 1);
    for (int i = 0; i < 3; ++i) append(evp.update(data_));
    return all;
  };
  for (const bool at_init : {true, false}) {
    EXPECT_EQ(run(kaccel.library(), at_init), run(default_, at_init)) << at_init;
  }
  ERR_clear_error();
}

class CipherContextInTlsMode : public CipherContextTest {
 protected:
  // The records that these sizes make of data_, in place.
  std::vector<Bytes> records(const LibraryContext& library, const char* name,
                             const std::vector<std::size_t>& sizes) {
    Evp evp(library, name);
    unsigned int version = TLS1_VERSION;
    const std::array params{OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
                            OSSL_PARAM_construct_end()};
    EXPECT_EQ(evp.init(key_, iv_), 1);
    EXPECT_EQ(EVP_CIPHER_CTX_set_params(evp.context.get(), params.data()), 1);
    std::vector<Bytes> all;
    for (const std::size_t size : sizes) {
      Bytes record(size + 16, 0x55);
      int written = 0;
      EXPECT_EQ(EVP_CipherUpdate(evp.context.get(), record.data(), &written, record.data(),
                                 static_cast<int>(size)),
                1);
      record.resize(static_cast<std::size_t>(written));
      all.push_back(record);
    }
    return all;
  }
};

TEST_F(CipherContextInTlsMode, PadsARecordOfNoBytesToo) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  const std::vector<std::size_t> sizes{192, 0, 192, 0, 0};
  EXPECT_EQ(records(kaccel.library(), "AES-128-CBC", sizes),
            records(default_, "AES-128-CBC", sizes));
  EXPECT_EQ(kaccel.counter("hardware-calls"), 2U);
}

TEST_F(CipherContextInTlsMode, KnowsNoRecordsOfAStreamMode) {
  const KaccelUnderTest kaccel(settings_with_thresholds(16, 16));
  const std::vector<std::size_t> sizes{190, 0, 192, 5};
  EXPECT_EQ(records(kaccel.library(), "AES-128-CTR", sizes),
            records(default_, "AES-128-CTR", sizes));
}

TEST_F(CipherContextTest, WorksInManyThreadsAtOnce) {
  Settings settings = settings_with_thresholds(0, 0);
  settings.max_sessions = 8;
  const KaccelUnderTest kaccel(settings);
  Evp reference(default_, "AES-128-CBC");
  ASSERT_EQ(reference.init(key_, iv_), 1);
  const Bytes expected = reference.update(data_);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&] {
      Evp evp(kaccel.library(), "AES-128-CBC");
      for (int i = 0; i < 50; ++i) {
        const CipherContextPointer copy(EVP_CIPHER_CTX_new());
        Bytes out(data_.size() + 16);
        int written = 0;
        const bool right =
            evp.init(key_, iv_) == 1 && EVP_CIPHER_CTX_copy(copy.get(), evp.context.get()) == 1 &&
            EVP_CipherUpdate(copy.get(), out.data(), &written, data_.data(), 1024) == 1 &&
            std::equal(expected.begin(), expected.end(), out.begin()) &&
            evp.update(data_) == expected;
        if (!right) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
  EXPECT_LE(kaccel.fake()->most_open_sessions(), 8U);
}

}  // namespace
}  // namespace kaccel::testing
