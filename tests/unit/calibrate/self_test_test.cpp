#include "calibrate/self_test.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "calibrate/self_test_cases.hpp"
#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

using std::chrono::milliseconds;

const HelperLimits impatient{milliseconds(1500), milliseconds(60'000)};

// One bit, or a small number, that all processes see.
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
  void count() { *byte_ = static_cast<char>(*byte_ + 1); }
  int count_so_far() const { return *byte_; }

 private:
  volatile char* byte_;
};

const Algorithm& row(const char* algorithm) {
  return algorithm_table[find_algorithm(algorithm)];
}

SelfTestResult test_driver(FakeTransport& transport, const char* algorithm,
                           const kernel::Restrictions& known = {},
                           const HelperLimits& limits = {}) {
  return self_test({row(algorithm), "fake", known}, transport, limits);
}

// The same driver was tested before, with keys of the same size.
TestSubject::Earlier again(const SelfTestResult& earlier) {
  return {earlier, true};
}

class SelfTestOf : public ::testing::TestWithParam<const char*> {};

TEST_P(SelfTestOf, ARightDriverPasses) {
  if (needs_legacy(row(GetParam())) && !legacy_is_installed()) GTEST_SKIP() << "no legacy.so";
  FakeTransport transport("fake");
  const auto result = test_driver(transport, GetParam());
  EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;
  EXPECT_EQ(result.found, kernel::Restrictions{});
}

INSTANTIATE_TEST_SUITE_P(EveryMode, SelfTestOf,
                         ::testing::Values("AES-128-ECB", "AES-192-CBC", "AES-256-CTR",
                                           "AES-128-XTS", "AES-256-XTS", "AES-192-GCM", "DES-ECB",
                                           "DES-CBC", "DES-EDE-CBC", "DES-EDE3-ECB", "HMAC-MD5",
                                           "HMAC-SHA1", "HMAC-SHA384"),
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

TEST(SelfTest, HangsHereAndThereAreGivenUpSoon) {
  SharedFlag losses;
  FakeTransport transport("fake");
  transport.behaviour = [&](const kernel::CipherRequest& request) {
    const bool bad = request.input.size() > 64 && request.input.size() % 64 == 16;
    if (bad) losses.count();
    return bad ? Behaviour::hanging : Behaviour::right;
  };
  const HelperLimits brief{milliseconds(500), milliseconds(60'000)};
  const auto result = test_driver(transport, "AES-128-CBC", {}, brief);
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_FALSE(result.dead);
  EXPECT_LE(losses.count_so_far(), 5);
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

// Each length is tried on a part of the same long message: the one before must not do.
TEST(SelfTest, AnAnswerToTheRequestBeforeIsFound) {
  for (const char* algorithm : {"AES-128-ECB", "AES-128-CBC", "AES-128-CTR", "AES-128-XTS"}) {
    FakeTransport transport("fake");
    std::vector<std::uint8_t> before;
    transport.tamper = [&](const kernel::CipherRequest& request) {
      const std::span output(request.output, request.input.size());
      const std::vector<std::uint8_t> right(output.begin(), output.end());
      if (request.direction != kernel::Direction::encrypt) return;
      // Long ones, but for what is longer than the one before.
      if (before.size() > 8192)
        std::copy_n(before.begin(), std::min(before.size(), right.size()), output.begin());
      before = right;
    };
    EXPECT_NE(test_driver(transport, algorithm).verdict, SelfTestVerdict::passed) << algorithm;
  }
}

TEST(SelfTest, WrongBytesAnywhereInARequestAreFound) {
  for (const char* algorithm : {"AES-128-ECB", "AES-256-CBC", "AES-128-CTR", "DES-EDE3-CBC"}) {
    for (const auto direction : {kernel::Direction::encrypt, kernel::Direction::decrypt}) {
      FakeTransport transport("fake");
      transport.tamper = [=](const kernel::CipherRequest& request) {
        if (request.direction == direction && request.input.size() > 20'000) {
          request.output[16'384] ^= 1;
        }
      };
      const auto result = test_driver(transport, algorithm);
      EXPECT_EQ(result.verdict, SelfTestVerdict::restricted) << algorithm << result.fault;
      EXPECT_GE(result.found.max_size, 4096u) << algorithm;
      EXPECT_LE(result.found.max_size, 20'000u) << algorithm;
    }
  }
}

TEST(SelfTest, AWrongChainingValueIsFound) {
  FakeTransport transport("fake");
  std::vector<std::uint8_t> last_block;
  transport.behaviour = [&](const kernel::CipherRequest& request) {
    const bool chained =
        std::equal(request.iv.begin(), request.iv.end(), last_block.begin(), last_block.end());
    if (request.direction == kernel::Direction::decrypt) {
      last_block.assign(request.input.end() - 16, request.input.end());
    }
    return chained ? Behaviour::wrong : Behaviour::right;
  };
  EXPECT_EQ(test_driver(transport, "AES-128-CBC").verdict, SelfTestVerdict::taken_out);
}

TEST(SelfTest, KeysThatStayAreFound) {
  FakeTransport transport("fake");
  transport.keeps_first_key = true;
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

const kernel::Restrictions xts_of_qce{.min_size = 17, .multiple_above = 512, .size_multiple = 512};

// qce's: above 512 bytes it answers whole sectors only.
TEST(SelfTestOfXts, AHangOnOddLengthsBecomesAMultipleAfterTwoLosses) {
  for (const auto how : {Behaviour::hanging, Behaviour::wrong}) {
    SharedFlag losses;
    FakeTransport transport("fake");
    transport.behaviour = [&](const kernel::CipherRequest& request) {
      const std::size_t size = request.input.size();
      const bool bad = !kernel::permits_size(xts_of_qce, size);
      if (bad && size > 512) losses.count();
      return !bad ? Behaviour::right : size > 512 ? how : Behaviour::wrong;
    };
    const auto result = test_driver(transport, "AES-256-XTS", {}, impatient);
    EXPECT_EQ(result.verdict, SelfTestVerdict::restricted) << result.fault;
    EXPECT_EQ(result.found,
              (kernel::Restrictions{.min_size = 32, .multiple_above = 512, .size_multiple = 512}));
    EXPECT_TRUE(result.ciphertext_stealing) << result.stealing_fault;
    if (how == Behaviour::hanging) {
      EXPECT_EQ(losses.count_so_far(), 2);
    }
  }
}

TEST(SelfTestOfXts, RightPartialUnitsProveCiphertextStealing) {
  FakeTransport transport("fake");
  const auto result = test_driver(transport, "AES-128-XTS");
  EXPECT_TRUE(result.ciphertext_stealing);
  EXPECT_EQ(result.stealing_fault, "");
}

TEST(SelfTestOfXts, WrongPartialUnitsLeaveTheDriverIn) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n % 16 != 0 && n > 512; });
  const auto result = test_driver(transport, "AES-256-XTS");
  EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;
  EXPECT_EQ(result.found, kernel::Restrictions{});
  EXPECT_FALSE(result.ciphertext_stealing);
  EXPECT_EQ(result.stealing_fault, "encryption of 513 bytes is wrong");
}

TEST(SelfTestOfXts, PartialUnitsThatFailOrHangLeaveTheDriverIn) {
  for (const auto how : {Behaviour::failing, Behaviour::hanging}) {
    FakeTransport transport("fake");
    transport.behaviour = bad_lengths([](std::size_t n) { return n % 16 != 0; }, how);
    const auto result = test_driver(transport, "AES-128-XTS", {}, impatient);
    EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;
    EXPECT_FALSE(result.ciphertext_stealing);
    EXPECT_NE(result.stealing_fault.find("17 bytes"), std::string::npos) << result.stealing_fault;
  }
}

TEST(SelfTestOfXts, APartialUnitThatLosesTheDriverForGoodTakesItOut) {
  SharedFlag lost;
  FakeTransport transport("fake");
  transport.behaviour = [&](const kernel::CipherRequest& request) {
    if (request.input.size() % 16 != 0) lost.set();
    return lost.is_set() ? Behaviour::hanging : Behaviour::right;
  };
  const auto result = test_driver(transport, "AES-128-XTS", {}, impatient);
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_TRUE(result.dead);
}

TEST(SelfTestOfXts, LengthsThatAKnownRuleForbidsAreNotTriedEvenForStealing) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths(
      [](std::size_t n) { return !kernel::permits_size(xts_of_qce, n); }, Behaviour::crashing);
  const auto result = test_driver(transport, "AES-128-XTS", xts_of_qce);
  EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;
  EXPECT_TRUE(result.ciphertext_stealing) << result.stealing_fault;
}

TEST(SelfTestOfXts, ExtremeTweaksAreTried) {
  FakeTransport transport("fake");
  transport.behaviour = [](const kernel::CipherRequest& request) {
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    return std::all_of(request.iv.begin(), request.iv.end(), is_zero) ? Behaviour::wrong
                                                                      : Behaviour::right;
  };
  EXPECT_EQ(test_driver(transport, "AES-128-XTS").verdict, SelfTestVerdict::taken_out);
}

TEST(SelfTestOfDes, ADriverThatRefusesRepeatedKeysIsOutForTwoKeysAndNotForThree) {
  FakeTransport transport("fake");
  transport.refuses_repeated_des_keys = true;
  const auto two = test_driver(transport, "DES-EDE-CBC");
  EXPECT_EQ(two.verdict, SelfTestVerdict::taken_out);
  EXPECT_NE(two.fault.find("192 bits whose first part comes again"), std::string::npos)
      << two.fault;
  EXPECT_EQ(test_driver(transport, "DES-EDE3-CBC").verdict, SelfTestVerdict::passed);
}

TEST(SelfTestOfDes, HalfAnAesBlockIsALengthOfItsOwn) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 8; });
  const auto result = test_driver(transport, "DES-EDE3-CBC");
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted);
  EXPECT_EQ(result.found.min_size, 16u);
}

TEST(SelfTestOfGcm, ADriverWhoseCtrIsWrongIsTakenOut) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 4096; });
  EXPECT_EQ(test_driver(transport, "AES-128-GCM").verdict, SelfTestVerdict::taken_out);
}

TEST(SelfTestOfGcm, AfterATestOfItsCtrOnlyTheProviderIsTried) {
  const SelfTestResult passed{SelfTestVerdict::passed, {}, "", false};
  // Only the battery of CTR has that length.
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 131072; });
  const auto result = self_test({row("AES-128-GCM"), "fake", {}, again(passed)}, transport);
  EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;

  transport.behaviour = bad_lengths([](std::size_t) { return true; });
  const auto wrong = self_test({row("AES-128-GCM"), "fake", {}, again(passed)}, transport);
  EXPECT_EQ(wrong.verdict, SelfTestVerdict::taken_out);
  EXPECT_NE(wrong.fault.find("through kaccel's provider"), std::string::npos) << wrong.fault;

  const SelfTestResult failed{SelfTestVerdict::taken_out, {}, "CTR is wrong", false};
  EXPECT_EQ(self_test({row("AES-128-GCM"), "fake", {}, again(failed)}, transport).fault,
            "CTR is wrong");
}

TEST(SelfTestOfDes, AfterATestOfTwoKeysLittleOfThreeIsTried) {
  const SelfTestResult passed{SelfTestVerdict::passed, {}, "", false};
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 32768; });
  EXPECT_EQ(self_test({row("DES-EDE3-CBC"), "fake", {}, again(passed)}, transport).verdict,
            SelfTestVerdict::passed);
  for (const std::size_t bad : {std::size_t{16}, std::size_t{4096}}) {
    transport.behaviour = bad_lengths([=](std::size_t n) { return n == bad; });
    EXPECT_EQ(self_test({row("DES-EDE3-CBC"), "fake", {}, again(passed)}, transport).verdict,
              SelfTestVerdict::taken_out)
        << bad;
  }
}

// Of AES in the same mode.
class AfterAnotherKeySize : public ::testing::Test {
 protected:
  SelfTestResult test() {
    const SelfTestResult passed{SelfTestVerdict::passed, {}, "", false};
    return self_test({row("AES-256-CBC"), "fake", {}, TestSubject::Earlier{passed, false}},
                     transport_, impatient);
  }
  FakeTransport transport_{"fake"};
};

TEST_F(AfterAnotherKeySize, APartIsTried) {
  transport_.behaviour = bad_lengths([](std::size_t n) { return n == 131072; });
  EXPECT_EQ(test().verdict, SelfTestVerdict::passed);
}

TEST_F(AfterAnotherKeySize, EverythingIsTriedWhereThatGoesWrong) {
  transport_.behaviour = bad_lengths([](std::size_t n) { return n == 16; });
  const auto result = test();
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted);
  EXPECT_EQ(result.found.min_size, 32U);
}

TEST_F(AfterAnotherKeySize, AKeySizeThatIsRefusedIsFound) {
  transport_.refused_key_size = 32;
  EXPECT_EQ(test().verdict, SelfTestVerdict::taken_out);
}

// What is known to go wrong though kaccel does not ask for it.
class Probe : public ::testing::Test {
 protected:
  SelfTestResult test(const char* algorithm) {
    return test_driver(transport_, algorithm, {}, impatient);
  }

  // It passed, and this is all that was found.
  static void expect_only(const SelfTestResult& result, const char* fault) {
    EXPECT_EQ(result.verdict, SelfTestVerdict::passed) << result.fault;
    ASSERT_EQ(result.harmless_faults.size(), 1u);
    EXPECT_EQ(result.harmless_faults[0].find(fault), 0u) << result.harmless_faults[0];
  }

  FakeTransport transport_{"fake"};
};

TEST_F(Probe, FindsNothingOnARightDriver) {
  for (const char* algorithm : {"AES-128-CTR", "AES-128-XTS", "HMAC-SHA256"}) {
    EXPECT_TRUE(test(algorithm).harmless_faults.empty()) << algorithm;
  }
}

TEST_F(Probe, FindsAPartialBlockGoingWrong) {
  for (const auto how : {Behaviour::wrong, Behaviour::failing, Behaviour::hanging}) {
    transport_.behaviour = bad_lengths([](std::size_t n) { return n % 16 != 0; }, how);
    expect_only(test("AES-128-CTR"), "a partial last block goes wrong, but kaccel sends whole");
  }
}

TEST_F(Probe, FindsASessionThatStaysInItsDirection) {
  transport_.sticky_direction = true;
  expect_only(test("AES-192-CBC"), "encryption after decryption on one session goes wrong, but");
}

TEST_F(Probe, FindsTheWrongMacOfAnEmptyMessage) {
  for (const auto how : {Behaviour::wrong, Behaviour::crashing}) {
    transport_.mac_behaviour = [how](auto message, auto) {
      return message.empty() ? how : Behaviour::right;
    };
    expect_only(test("HMAC-SHA256"), "an empty message goes wrong, but kaccel keeps");
  }
}

TEST_F(Probe, ThatLosesTheDriverForGoodTakesItOut) {
  SharedFlag lost;
  transport_.mac_behaviour = [&](auto message, auto) {
    if (message.empty()) lost.set();
    return lost.is_set() ? Behaviour::hanging : Behaviour::right;
  };
  const auto result = test("HMAC-SHA1");
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_TRUE(result.dead);
}

TEST(SelfTestOfSlowDrivers, ASecondForABlockIsTooLongAndFoundSoon) {
  FakeTransport transport("fake");
  transport.latency = milliseconds(60);
  const HelperLimits hurried{milliseconds(1500), milliseconds(60'000), milliseconds(50)};
  for (const char* algorithm : {"AES-128-CBC", "HMAC-SHA1"}) {
    SharedFlag requests;
    transport.behaviour = [&](const kernel::CipherRequest&) {
      requests.count();
      return Behaviour::right;
    };
    const auto result = test_driver(transport, algorithm, {}, hurried);
    EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
    EXPECT_TRUE(result.dead);
    EXPECT_NE(result.fault.find(" ms for a request of "), std::string::npos) << result.fault;
    EXPECT_LE(requests.count_so_far(), 2);
  }
}

TEST(SelfTestOfSlowDrivers, ASelfTestThatNeverEndsIsEndedOnce) {
  FakeTransport transport("fake");
  transport.latency = milliseconds(20);
  const auto start = std::chrono::steady_clock::now();
  const auto result = test_driver(transport, "AES-128-CBC", {},
                                  {milliseconds(1500), milliseconds(1000), milliseconds(500)});
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_TRUE(result.dead);
  EXPECT_NE(result.fault.find("takes longer than 1.0 s"), std::string::npos) << result.fault;
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(10'000));
}

TEST(SelfTestOfHmac, WrongPaddingIsFoundWhereAHashBlockIsJustFull) {
  FakeTransport transport("fake");
  transport.mac_behaviour = [](auto message, auto) {
    return message.size() == 56 ? Behaviour::wrong : Behaviour::right;
  };
  const auto result = test_driver(transport, "HMAC-SHA256");
  EXPECT_EQ(result.verdict, SelfTestVerdict::taken_out);
  EXPECT_EQ(result.fault, "the MAC of 56 bytes with a key of 64 bytes is wrong");
}

TEST(SelfTestOfHmac, WrongLongMessagesBecomeAMaximumSize) {
  FakeTransport transport("fake");
  transport.mac_behaviour = [](auto message, auto) {
    return message.size() > 65536 ? Behaviour::failing : Behaviour::right;
  };
  const auto result = test_driver(transport, "HMAC-SHA1");
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted) << result.fault;
  EXPECT_EQ(result.found.max_size, 65536u);
}

TEST(SelfTestOfHmac, AHangIsToldAndDoesNotHangTheCaller) {
  FakeTransport transport("fake");
  transport.mac_behaviour = [](auto message, auto) {
    return message.size() == 1 ? Behaviour::hanging : Behaviour::right;
  };
  const auto result = test_driver(transport, "HMAC-SHA512", {}, impatient);
  EXPECT_EQ(result.verdict, SelfTestVerdict::restricted);
  EXPECT_EQ(result.fault, "a request of 1 bytes hangs: no answer for 1.5 s");
}

TEST(SelfTestOfHmac, ShortKeysAreTried) {
  for (const std::size_t bad_key : {std::size_t{1}, std::size_t{63}}) {
    FakeTransport transport("fake");
    transport.mac_behaviour = [=](auto, auto key) {
      return key.size() == bad_key ? Behaviour::wrong : Behaviour::right;
    };
    EXPECT_EQ(test_driver(transport, "HMAC-MD5").verdict, SelfTestVerdict::taken_out) << bad_key;
  }
}

TEST(SelfTestOfHmac, MisalignedMessagesAreTried) {
  FakeTransport transport("fake");
  transport.mac_behaviour = [](auto message, auto) {
    const auto address = reinterpret_cast<std::uintptr_t>(message.data());
    return address % 4 == 3 ? Behaviour::wrong : Behaviour::right;
  };
  EXPECT_EQ(test_driver(transport, "HMAC-SHA256").verdict, SelfTestVerdict::taken_out);
}

TEST(SelfTestCases, LengthsLieAroundTheBordersAndRise) {
  const auto lengths = test_lengths(row("AES-128-CBC"), {});
  EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end()));
  for (const std::size_t length : std::array<std::size_t, 6>{16, 32, 496, 512, 4112, 65552}) {
    EXPECT_TRUE(std::binary_search(lengths.begin(), lengths.end(), length)) << length;
  }
}

TEST(SelfTestCases, RoundLengthsComeBeforeTheirNeighbours) {
  const auto [cases, round] = length_cases(test_lengths(row("AES-128-XTS"), {}));
  const auto shorter = [](const Case& a, const Case& b) { return a.length < b.length; };
  const auto neighbours = cases.begin() + static_cast<std::ptrdiff_t>(round);
  EXPECT_TRUE(std::is_sorted(cases.begin(), neighbours, shorter));
  EXPECT_TRUE(std::is_sorted(neighbours, cases.end(), shorter));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t length = cases[i].length;
    EXPECT_EQ(i < round, length < 512 ? std::has_single_bit(length) : length % 512 == 0) << length;
  }
}

TEST(SelfTestCases, ForbiddenLengthsAreLeftOut) {
  for (const std::size_t length : test_lengths(row("AES-128-XTS"), xts_of_qce)) {
    EXPECT_TRUE(kernel::permits_size(xts_of_qce, length)) << length;
  }
}

TEST(SelfTestCases, StealingLengthsAreNoWholeBlocksAndPermitted) {
  EXPECT_GT(stealing_lengths({}).back(), 4096u);
  const auto lengths = stealing_lengths(xts_of_qce);
  EXPECT_FALSE(lengths.empty());
  for (const std::size_t length : lengths) {
    EXPECT_NE(length % 16, 0u) << length;
    EXPECT_TRUE(kernel::permits_size(xts_of_qce, length)) << length;
  }
}

TEST(SelfTestCases, MessagesGoUpToSeveralOfTheKernelsPieces) {
  EXPECT_GT(test_lengths(row("HMAC-SHA1"), {}).back(), 2 * std::size_t{65536});
  EXPECT_EQ(test_lengths(row("HMAC-SHA1"), {.max_size = 100'000}).back(), 100'000u);
  EXPECT_EQ(test_lengths(row("HMAC-SHA1"), {}).front(), 1u);
}

}  // namespace
}  // namespace kaccel::calibrate
