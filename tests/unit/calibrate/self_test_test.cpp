#include "calibrate/self_test.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <string>

#include "calibrate/self_test_cases.hpp"
#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

using std::chrono::milliseconds;

const HelperLimits impatient{milliseconds(1500), milliseconds(60'000)};

// One bit that all processes see.
class SharedFlag {
 public:
  SharedFlag()
      : byte_(static_cast<volatile char*>(
            mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;
  ~SharedFlag() { munmap(const_cast<char*>(byte_), 1); }

  void set() { *byte_ = 1; }
  bool is_set() const { return *byte_ != 0; }

 private:
  volatile char* byte_;
};

SelfTestResult test_driver(FakeTransport& transport, const char* algorithm,
                           const kernel::Restrictions& known = {},
                           const HelperLimits& limits = {}) {
  return self_test({algorithm_table[find_algorithm(algorithm)], "fake", known}, transport,
                   limits);
}

class SelfTestOf : public ::testing::TestWithParam<const char*> {};

TEST_P(SelfTestOf, ARightDriverPasses) {
  FakeTransport transport("fake");
  const auto result = test_driver(transport, GetParam());
  EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;
  EXPECT_EQ(result.found, kernel::Restrictions{});
}

INSTANTIATE_TEST_SUITE_P(EveryMode, SelfTestOf,
                         ::testing::Values("AES-128-ECB", "AES-192-CBC", "AES-256-CTR"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(SelfTest, WrongSingleBlocksBecomeAMinimumSize) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n <= 16; });
  const auto result = test_driver(transport, "AES-128-CBC");
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted);
  EXPECT_EQ(result.found.min_size, 32u);
  EXPECT_EQ(result.fault, "encryption of 16 bytes is wrong");
}

TEST(SelfTest, FailingLargeRequestsBecomeAMaximumSize) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n > 16384; }, Behaviour::failing);
  const auto result = test_driver(transport, "AES-128-CTR");
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted) << result.fault;
  EXPECT_EQ(result.found.max_size, 16384u);
}

TEST(SelfTest, AHangAtOneEndBecomesARestriction) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n <= 16; }, Behaviour::hanging);
  const auto result = test_driver(transport, "AES-128-CBC", {}, impatient);
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted) << result.fault;
  EXPECT_EQ(result.found.min_size, 32u);
  EXPECT_EQ(result.fault, "a request of 16 bytes hangs: no answer for 1.5 s");
}

TEST(SelfTest, ADriverThatAlwaysHangsIsTakenOutSoon) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t) { return true; }, Behaviour::hanging);
  const auto start = std::chrono::steady_clock::now();
  const auto result = test_driver(transport, "AES-128-CBC", {}, impatient);
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_TRUE(result.dead);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(20'000));
}

TEST(SelfTest, HangsOfLongRequestsBecomeAMaximumSizeWithoutTryingEach) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n > 65536; }, Behaviour::hanging);
  const auto start = std::chrono::steady_clock::now();
  const auto result = test_driver(transport, "AES-128-CBC", {}, impatient);
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted) << result.fault;
  EXPECT_EQ(result.found.max_size, 65536u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(20'000));
}

// As virtio-crypto does: one request too large, and the device is lost for everybody.
TEST(SelfTest, ADriverThatHangsForGoodIsFoundDead) {
  SharedFlag lost;
  FakeTransport transport("fake");
  transport.behaviour = [&](const kernel::CipherRequest& request) {
    if (request.input.size() > 65536) lost.set();
    return lost.is_set() ? Behaviour::hanging : Behaviour::right;
  };
  const auto result = test_driver(transport, "AES-128-CBC", {}, impatient);
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_TRUE(result.dead);
  EXPECT_NE(result.fault.find("answers nothing since"), std::string::npos) << result.fault;
}

TEST(SelfTest, ACrashOfTheHelperIsAFault) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 512; }, Behaviour::crashing);
  const auto result = test_driver(transport, "AES-128-CBC");
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_NE(result.fault.find("a request of 512 bytes crashes"), std::string::npos) << result.fault;
}

TEST(SelfTest, WrongLengthsWithoutARuleTakeTheDriverOut) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 4096; });
  EXPECT_EQ(test_driver(transport, "AES-128-CBC").verdict, SelfTestVerdict::taken_out);
}

TEST(SelfTest, WrongDecryptionAloneTakesTheDriverOut) {
  FakeTransport transport("fake");
  transport.behaviour = [](const kernel::CipherRequest& request) {
    return request.direction == kernel::Direction::decrypt ? Behaviour::wrong : Behaviour::right;
  };
  const auto result = test_driver(transport, "AES-256-ECB");
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_EQ(result.fault, "decryption of 16 bytes is wrong");
}

TEST(SelfTest, ACounterThatDoesNotCarryIsFound) {
  FakeTransport transport("fake");
  transport.behaviour = [](const kernel::CipherRequest& request) {
    const auto* last_word = request.iv.data() + 12;
    const bool carries = last_word[0] == 0xff && last_word[1] == 0xff && last_word[2] == 0xff;
    return carries ? Behaviour::wrong : Behaviour::right;
  };
  const auto result = test_driver(transport, "AES-128-CTR");
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_NE(result.fault.find("counter carries out of 32 bits"), std::string::npos) << result.fault;
}

TEST(SelfTest, MisalignedBuffersAreTried) {
  FakeTransport transport("fake");
  transport.behaviour = [](const kernel::CipherRequest& request) {
    const auto address = reinterpret_cast<std::uintptr_t>(request.input.data());
    return address % 4 == 3 ? Behaviour::wrong : Behaviour::right;
  };
  EXPECT_EQ(test_driver(transport, "AES-128-CBC").verdict, SelfTestVerdict::taken_out);
}

TEST(SelfTest, AFaultThatComesNowAndThenIsFound) {
  FakeTransport transport("fake");
  int requests = 0;
  transport.behaviour = [requests](const kernel::CipherRequest&) mutable {
    return ++requests % 97 == 0 ? Behaviour::wrong : Behaviour::right;
  };
  EXPECT_EQ(test_driver(transport, "AES-128-CBC").verdict, SelfTestVerdict::taken_out);
}

TEST(SelfTest, ARefusedKeySizeTakesTheDriverOut) {
  FakeTransport transport("fake");
  transport.refused_key_size = 24;
  const auto result = test_driver(transport, "AES-192-CBC");
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_NE(result.fault.find("no key of 192 bits"), std::string::npos) << result.fault;
}

TEST(SelfTest, LengthsThatAreKnownToGoWrongAreNotTried) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n < 17; }, Behaviour::hanging);
  const auto result = test_driver(transport, "AES-128-CBC", {.min_size = 17}, impatient);
  EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;
}

TEST(SelfTest, RequestsAreKeptToWhatTheKernelTakes) {
  FakeTransport transport("fake");
  transport.max_request = 4096;
  transport.behaviour = bad_lengths([](std::size_t n) { return n > 4096; });
  EXPECT_EQ(test_driver(transport, "AES-128-CBC").verdict, SelfTestVerdict::passed);
}

TEST(SelfTestCases, LengthsLieAroundTheBordersAndRise) {
  const auto lengths = test_lengths(16, {});
  EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end()));
  for (const std::size_t length : std::array<std::size_t, 6>{16, 32, 496, 512, 4112, 65552}) {
    EXPECT_TRUE(std::binary_search(lengths.begin(), lengths.end(), length)) << length;
  }
}

TEST(SelfTestCases, ForbiddenLengthsAreLeftOut) {
  const kernel::Restrictions xts_of_qce{
      .min_size = 17, .multiple_above = 512, .size_multiple = 512};
  for (const std::size_t length : test_lengths(16, xts_of_qce)) {
    EXPECT_TRUE(kernel::permits_size(xts_of_qce, length)) << length;
  }
}

}  // namespace
}  // namespace kaccel::calibrate
