// What users of OpenSSL's afalg and devcrypto engines, of libkcapi and of the kernel's drivers have
// reported, each with the value that is right. Two of those reports are elsewhere: thresholds
// around each vector's length in tests/vectors, random numbers in process_life_test.cpp.

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernel-bridge/known_drivers.hpp"
#include "provider/algorithms.hpp"
#include "tests/life/child.hpp"
#include "tests/life/stream.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

const Bytes key = test_bytes(64, 11);
const Bytes iv = test_bytes(16, 12);

// qce never gets a single block.
bool takes(const char* algorithm, std::size_t size) {
  const std::string driver =
      driver_for(algorithm_table.at(find_algorithm(algorithm)).kernel_algorithm);
  const kernel::KnownDriver* known = kernel::find_known_driver(driver);
  return has_hardware(algorithm) &&
         (known == nullptr || kernel::permits_size(known->restrictions, size));
}

// A context that fails a test by an exception where EVP refuses anything.
class Context {
 public:
  Context(const LibraryContext& library, const char* algorithm)
      : cipher_(fetch_cipher(library, algorithm)), context_(EVP_CIPHER_CTX_new()) {
    if (cipher_ == nullptr) throw std::runtime_error(std::string("no ") + algorithm);
  }

  // -1: the direction it had.
  void init(const Bytes* with_key, const Bytes* with_iv, int encrypt = 1) {
    const bool first = EVP_CIPHER_CTX_get0_cipher(context_.get()) == nullptr;
    need(EVP_CipherInit_ex2(context_.get(), first ? cipher_.get() : nullptr,
                            with_key == nullptr ? nullptr : with_key->data(),
                            with_iv == nullptr ? nullptr : with_iv->data(), encrypt, nullptr));
    need(EVP_CIPHER_CTX_set_padding(context_.get(), 0));
  }
  Bytes update(const Bytes& data) {
    Bytes out(data.size() + 16);
    int written = 0;
    need(EVP_CipherUpdate(context_.get(), out.data(), &written, data.data(),
                          static_cast<int>(data.size())));
    out.resize(static_cast<std::size_t>(written));
    return out;
  }
  void copy_from(const Context& other) {
    need(EVP_CIPHER_CTX_copy(context_.get(), other.context_.get()));
  }

 private:
  static void need(int result) {
    if (result != 1) throw std::runtime_error("EVP refuses a call");
  }
  CipherPointer cipher_;
  CipherContextPointer context_;
};

class PublicReports : public ::testing::Test {
 protected:
  void start(Threshold threshold) {
    kaccel_ = std::make_unique<KaccelUnderTest>(settings_with_thresholds(threshold, threshold));
  }
  void TearDown() override {
    if (kaccel_ == nullptr) return;
    EXPECT_EQ(kaccel_->counter("fallbacks"), 0U);
    if (kaccel_->fake() != nullptr) {
      EXPECT_EQ(kaccel_->fake()->violations(), std::vector<std::string>{});
    }
  }

  Context hardware(const char* algorithm) const { return {kaccel_->library(), algorithm}; }
  Context software(const char* algorithm) const { return {reference_, algorithm}; }
  std::uint64_t hardware_calls() const { return kaccel_->counter("hardware-calls"); }

  // One init and these updates, on both sides. Hardware must answer those of a sector and more.
  void expect_same(const char* algorithm, const std::vector<std::size_t>& sizes, int encrypt = 1) {
    Context ours = hardware(algorithm);
    Context theirs = software(algorithm);
    ours.init(&key, &iv, encrypt);
    theirs.init(&key, &iv, encrypt);
    const std::uint64_t calls = hardware_calls();
    std::uint64_t due = 0;
    std::uint32_t seed = 20;
    for (const std::size_t size : sizes) {
      const Bytes data = test_bytes(size, ++seed);
      ASSERT_EQ(ours.update(data), theirs.update(data)) << algorithm << ", " << size << " bytes";
      due += size >= 512 && has_hardware(algorithm) ? 1U : 0U;
    }
    EXPECT_GE(hardware_calls() - calls, due) << algorithm;
  }

  std::unique_ptr<KaccelUnderTest> kaccel_;
  const LibraryContext reference_ = LibraryContext::with_default_provider();
};

TEST_F(PublicReports, AContextSharedOverForkGoesOnInBothProcesses) {
  start(0);
  for (const char* algorithm : {"AES-128-CBC", "AES-256-CTR"}) {
    Context shared = hardware(algorithm);
    Context theirs = software(algorithm);
    shared.init(&key, &iv);
    theirs.init(&key, &iv);
    const Bytes first = test_bytes(16, 1);
    const Bytes second = test_bytes(16, 2);
    const std::uint64_t before = hardware_calls();
    ASSERT_EQ(shared.update(first), theirs.update(first));
    const Bytes expected = theirs.update(second);
    const std::uint64_t calls = hardware_calls();
    const std::uint64_t each = calls - before;
    EXPECT_EQ(each, takes(algorithm, first.size()) ? 1U : 0U) << algorithm;
    const std::uint64_t opened = kaccel_->counter("sessions-opened");
    Child child([&](int) {
      if (shared.update(second) != expected) return std::string("the child's bytes are wrong");
      if (kaccel_->counter("sessions-opened") != opened + each) {
        return std::string("the child has no session of its own");
      }
      return std::string(hardware_calls() == calls + each ? "" : "not as in the parent");
    });
    EXPECT_EQ(shared.update(second), expected) << algorithm;
    EXPECT_EQ(child.wait(), "") << algorithm;
  }
}

TEST_F(PublicReports, ACopyInMidStreamGoesOnAndBothAreFreed) {
  start(0);
  const auto check = [this](const char* algorithm, std::size_t size, bool copy_goes_first) {
    auto ours = std::make_unique<Context>(hardware(algorithm));
    auto copy = std::make_unique<Context>(hardware(algorithm));
    Context theirs = software(algorithm);
    ours->init(&key, &iv);
    theirs.init(&key, &iv);
    const Bytes first = test_bytes(size, 1);
    const Bytes second = test_bytes(2048, 2);
    const std::uint64_t calls = hardware_calls();
    ASSERT_EQ(ours->update(first), theirs.update(first));
    copy->copy_from(*ours);
    const Bytes expected = theirs.update(second);
    auto& gone = copy_goes_first ? copy : ours;
    auto& left = copy_goes_first ? ours : copy;
    EXPECT_EQ(gone->update(second), expected) << algorithm << " after " << size;
    gone.reset();
    EXPECT_EQ(left->update(second), expected) << algorithm << " after " << size;
    EXPECT_EQ(hardware_calls() - calls, has_hardware(algorithm) ? 3U : 0U) << algorithm;
  };
  for (const char* algorithm : {"AES-128-CBC", "AES-256-CTR"}) {
    for (const bool copy_goes_first : {true, false}) {
      check(algorithm, 1024, copy_goes_first);
      check(algorithm, 1029, copy_goes_first);  // with a partial block held
    }
  }
}

TEST_F(PublicReports, ACopyAfterTheKeyAloneTakesAnIv) {
  start(0);
  for (const char* algorithm : {"AES-128-CBC", "AES-256-CTR", "AES-128-GCM"}) {
    Context ours = hardware(algorithm);
    Context copy = hardware(algorithm);
    Context theirs = software(algorithm);
    ours.init(&key, nullptr);
    copy.copy_from(ours);
    theirs.init(&key, &iv);
    copy.init(nullptr, &iv, -1);
    const Bytes data = test_bytes(4096, 1);
    const Bytes expected = theirs.update(data);
    const std::uint64_t calls = hardware_calls();
    EXPECT_EQ(copy.update(data), expected) << algorithm;
    EXPECT_EQ(hardware_calls() - calls, has_hardware(algorithm) ? 1U : 0U) << algorithm;
    ours.init(nullptr, &iv, -1);
    EXPECT_EQ(ours.update(data), expected) << algorithm;
  }
}

TEST_F(PublicReports, AnUpdateOfAMebibyteIsOneStream) {
  start(0);
  for (const char* algorithm : {"AES-128-CBC", "AES-256-CTR"}) {
    for (const int encrypt : {1, 0}) {
      for (const std::size_t size : {std::size_t{256} << 10, std::size_t{1} << 20}) {
        // A second one, for the IV that the first left.
        expect_same(algorithm, {size, 4096}, encrypt);
      }
    }
  }
}

TEST_F(PublicReports, UpdatesAroundARequestsUsualLimitsComeOutRight) {
  start(0);
  for (const char* algorithm : {"AES-128-ECB", "AES-256-CBC", "AES-128-CTR", "AES-256-GCM"}) {
    expect_same(algorithm, {16384, 16448, 65536, 16384, 65536 + 16, 65536 - 16});
  }
}

TEST_F(PublicReports, XtsOfAnyLengthDoesNotHang) {
  // In a child, which is killed where it hangs.
  EXPECT_EQ(in_child([this](int) {
              start(0);
              Context ours = hardware("AES-256-XTS");
              Context theirs = software("AES-256-XTS");
              std::vector<std::size_t> sizes;
              for (std::size_t size = 16; size < 1100; size += 7) sizes.push_back(size);
              for (const std::size_t sector : {512U, 1024U, 4096U}) {
                for (const std::size_t off : {0U, 1U, 8U, 16U}) {
                  sizes.push_back(sector + off);
                  sizes.push_back(sector - off);
                }
              }
              for (const int encrypt : {1, 0}) {
                ours.init(&key, &iv, encrypt);
                theirs.init(&key, &iv, encrypt);
                for (const std::size_t size : sizes) {
                  const Bytes data = test_bytes(size, 1);
                  ours.init(nullptr, &iv, -1);
                  theirs.init(nullptr, &iv, -1);
                  if (ours.update(data) != theirs.update(data)) {
                    return "wrong at " + std::to_string(size);
                  }
                }
              }
              const bool used = hardware_calls() > 0 && kaccel_->counter("fallbacks") == 0;
              return std::string(used == has_hardware("AES-256-XTS") ? "" : "not by hardware");
            }),
            "");
}

TEST_F(PublicReports, XtsInSeveralUpdatesIsWhatOpensslMakesOfThem) {
  start(0);
  for (const int encrypt : {1, 0}) {
    expect_same("AES-128-XTS", {512, 512, 1024, 33, 2048}, encrypt);
    expect_same("AES-256-XTS", {4096, 16, 4096}, encrypt);
  }
}

TEST_F(PublicReports, OneContextTakesAThousandKeys) {
  start(0);
  Context ours = hardware("AES-128-CBC");
  Context theirs = software("AES-128-CBC");
  const Bytes data = test_bytes(64, 1);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Bytes next = test_bytes(16, 1000 + i);
    ours.init(&next, &iv);
    theirs.init(&next, &iv);
    ASSERT_EQ(ours.update(data), theirs.update(data)) << "key " << i;
  }
  EXPECT_EQ(hardware_calls(), 1000U);
  EXPECT_EQ(kaccel_->counter("keys-loaded"), 1000U);
}

TEST_F(PublicReports, EncryptingAndThenDecryptingOnOneContextAndKey) {
  start(0);
  for (const char* algorithm : {"AES-128-ECB", "AES-256-CBC", "DES-EDE3-CBC"}) {
    Context ours = hardware(algorithm);
    const Bytes data = test_bytes(1024, 1);
    ours.init(&key, &iv, 1);
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t calls = hardware_calls();
      ours.init(nullptr, &iv, 1);
      Context theirs = software(algorithm);
      theirs.init(&key, &iv, 1);
      const Bytes secret = ours.update(data);
      EXPECT_EQ(secret, theirs.update(data)) << algorithm << ", round " << round;
      ours.init(&key, &iv, 0);
      EXPECT_EQ(ours.update(secret), data) << algorithm << ", round " << round;
      ours.init(&key, &iv, 1);
      EXPECT_EQ(hardware_calls() - calls, has_hardware(algorithm) ? 2U : 0U) << algorithm;
    }
  }
}

TEST_F(PublicReports, TheHmacOfNoBytesIsRight) {
  start(0);
  struct Row {
    const char* digest;
    Bytes result;  // of the empty key and message; MD5 and SHA-1, SHA-256 as RFC 2104 has them
  };
  const std::vector<Row> rows{
      {"MD5",
       {0x74, 0xe6, 0xf7, 0x29, 0x8a, 0x9c, 0x2d, 0x16, 0x89, 0x35, 0xf5, 0x8c, 0x00, 0x1b, 0xad,
        0x88}},
      {"SHA1", {0xfb, 0xdb, 0x1d, 0x1b, 0x18, 0xaa, 0x6c, 0x08, 0x32, 0x4b,
                0x7d, 0x64, 0xb7, 0x1f, 0xb7, 0x63, 0x70, 0x69, 0x0e, 0x1d}},
      {"SHA256", {0xb6, 0x13, 0x67, 0x9a, 0x08, 0x14, 0xd9, 0xec, 0x77, 0x2f, 0x95,
                  0xd7, 0x78, 0xc3, 0x5f, 0xc5, 0xff, 0x16, 0x97, 0xc4, 0x93, 0x71,
                  0x56, 0x53, 0xc6, 0xc7, 0x12, 0x14, 0x42, 0x92, 0xc5, 0xad}},
  };
  EVP_MAC* mac = EVP_MAC_fetch(kaccel_->library().get(), "HMAC", nullptr);
  ASSERT_NE(mac, nullptr);
  for (const Row& row : rows) {
    EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
    std::string digest = row.digest;
    const std::array params{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_end()};
    Bytes result(EVP_MAX_MD_SIZE);
    std::size_t size = 0;
    const std::uint8_t no_key = 0;
    EXPECT_EQ(EVP_MAC_init(context, &no_key, 0, params.data()), 1);
    EXPECT_EQ(EVP_MAC_update(context, result.data(), 0), 1);
    EXPECT_EQ(EVP_MAC_final(context, result.data(), &size, result.size()), 1);
    result.resize(size);
    EXPECT_EQ(result, row.result) << row.digest;
    EVP_MAC_CTX_free(context);
  }
  EVP_MAC_free(mac);
}

TEST_F(PublicReports, CtrOfSeventeenBytesGoesOn) {
  start(0);
  for (const char* algorithm : {"AES-128-CTR", "AES-256-CTR"}) {
    expect_same(algorithm, {17, 17, 4096, 1, 15, 2048, 17});
    expect_same(algorithm, {17, 4096}, 0);
  }
}

TEST_F(PublicReports, RequestsOfAKibibyteInALoopStayRight) {
  start(0);
  const std::vector<std::size_t> sizes(200, 1024);
  for (const char* algorithm : {"AES-128-CBC", "AES-256-CTR"}) {
    for (const int encrypt : {1, 0}) expect_same(algorithm, sizes, encrypt);
  }
}

TEST_F(PublicReports, ANewIvAboveTheThresholdIsUsed) {
  start(512);
  const Bytes other_iv = test_bytes(16, 99);
  for (const char* algorithm : {"AES-128-CBC", "AES-256-CTR", "AES-128-GCM"}) {
    for (const std::size_t before : {16U, 512U, 513U, 4096U}) {
      Context ours = hardware(algorithm);
      Context theirs = software(algorithm);
      const Bytes data = test_bytes(528, 1);
      for (Context* context : {&ours, &theirs}) {
        context->init(&key, &iv);
        context->update(test_bytes(before, 3));
        context->init(nullptr, &other_iv, -1);
      }
      const std::uint64_t calls = hardware_calls();
      EXPECT_EQ(ours.update(data), theirs.update(data)) << algorithm << " after " << before;
      EXPECT_EQ(hardware_calls() - calls, has_hardware(algorithm) ? 1U : 0U) << algorithm;
    }
  }
}

}  // namespace
}  // namespace kaccel::testing
