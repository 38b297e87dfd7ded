// Where XTS data units go.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

class XtsContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (on_real_kernel()) GTEST_SKIP() << "counts what the fake transport is asked for";
    for (std::size_t i = 0; i < key_.size(); ++i) key_[i] = static_cast<std::uint8_t>(i);
  }

  // Through kaccel, compared with OpenSSL; returns whether hardware was asked.
  bool update(const KaccelUnderTest& kaccel, std::size_t size, int encrypt = 1) {
    const std::uint64_t before = kaccel.counter("hardware-calls");
    const Bytes data(size, 0x5a);
    EXPECT_EQ(through(kaccel.library(), data, encrypt), through(default_, data, encrypt)) << size;
    return kaccel.counter("hardware-calls") != before;
  }

  Bytes through(const LibraryContext& library, const Bytes& data, int encrypt) {
    const CipherPointer cipher = fetch_cipher(library, "AES-128-XTS");
    const CipherContextPointer context(EVP_CIPHER_CTX_new());
    Bytes out(data.size() + 16);
    int written = 0;
    EXPECT_EQ(EVP_CipherInit_ex2(context.get(), cipher.get(), key_.data(), tweak_.data(), encrypt,
                                 nullptr),
              1);
    EXPECT_EQ(EVP_CipherUpdate(context.get(), out.data(), &written, data.data(),
                               static_cast<int>(data.size())),
              1);
    out.resize(static_cast<std::size_t>(written));
    return out;
  }

  static Settings settings(Threshold threshold) {
    return settings_with_thresholds(threshold, threshold);
  }

  Bytes key_ = Bytes(32);
  const Bytes tweak_ = Bytes(16, 0x33);
  const LibraryContext default_ = LibraryContext::with_default_provider();
};

TEST_F(XtsContextTest, GivesAUnitToHardwareWholeOrNotAtAll) {
  const KaccelUnderTest kaccel(settings(0));
  EXPECT_TRUE(update(kaccel, 16));
  EXPECT_TRUE(update(kaccel, 65536));
  EXPECT_FALSE(update(kaccel, 65552)) << "more than one request of the fake transport";
  EXPECT_EQ(kaccel.fake()->request_sizes(), (std::vector<std::size_t>{16, 65536}));
  EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
}

TEST_F(XtsContextTest, LeavesCiphertextStealingToSoftwareUnlessItWasProved) {
  const KaccelUnderTest careful(settings(0));
  EXPECT_FALSE(update(careful, 17));
  EXPECT_FALSE(update(careful, 1000));
  Settings proved = settings(0);
  for (AlgorithmSettings& row : proved.algorithms) row.ciphertext_stealing = true;
  const KaccelUnderTest kaccel(proved);
  EXPECT_TRUE(update(kaccel, 17));
  EXPECT_TRUE(update(kaccel, 1000));
  EXPECT_TRUE(update(kaccel, 1000, 0));
  EXPECT_EQ(careful.fake()->violations(), std::vector<std::string>{});
}

TEST_F(XtsContextTest, NeverAsksQceForWhatItHangsOn) {
  Settings qce = settings(0);
  for (AlgorithmSettings& row : qce.algorithms) {
    row.driver = "xts-aes-qce";
    row.ciphertext_stealing = true;
  }
  const KaccelUnderTest kaccel(qce);
  EXPECT_TRUE(update(kaccel, 512));
  EXPECT_FALSE(update(kaccel, 528));
  EXPECT_FALSE(update(kaccel, 1000));
  EXPECT_TRUE(update(kaccel, 1024));
  EXPECT_FALSE(update(kaccel, 16)) << "a single block";
  EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
}

TEST_F(XtsContextTest, DoesTheSameUnitBySoftwareWhereTheDriverFails) {
  const KaccelUnderTest kaccel(settings(0));
  kaccel.fake()->fail(FakeTransport::Step::crypt, kernel::Failure::driver_error, 2);
  EXPECT_TRUE(update(kaccel, 4096));
  EXPECT_FALSE(update(kaccel, 4096));
  EXPECT_TRUE(update(kaccel, 4096));
  EXPECT_EQ(kaccel.counter("fallbacks"), 1U);
}

}  // namespace
}  // namespace kaccel::testing
