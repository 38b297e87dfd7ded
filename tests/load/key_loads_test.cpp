// How often a key is loaded, by the provider's counters: when it is needed and not there.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/context_pair.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

class KeyLoads : public ::testing::Test {
 protected:
  using Pair = std::unique_ptr<ContextPair>;

  static constexpr std::size_t sessions = 64;

  static Settings settings() {
    Settings settings = settings_with_thresholds(16, 16);
    settings.max_sessions = sessions;
    return settings;
  }

  void SetUp() override { ASSERT_TRUE(has_hardware("AES-128-CBC")); }
  void TearDown() override {
    EXPECT_EQ(kaccel_.counter("fallbacks"), 0U);
    EXPECT_EQ(kaccel_.counter("requests"), uses_);
    EXPECT_LE(kaccel_.counter("sessions-open"), sessions);
  }

  Pair keyed(std::uint64_t key, bool encrypt = true) { return keyed(maker_, key, encrypt); }

  Pair keyed(const PairMaker& maker, std::uint64_t key, bool encrypt = true) {
    Pair pair = maker.make();
    EXPECT_EQ(pair->init(key, encrypt), "");
    return pair;
  }

  void use(const Pair& pair) {
    ASSERT_EQ(pair->use(data_), "");
    ++uses_;
  }

  PairMaker maker(const char* algorithm) const {
    return {kaccel_.library(), reference_, algorithm};
  }

  std::uint64_t keys_loaded() const { return kaccel_.counter("keys-loaded"); }

 private:
  const KaccelUnderTest kaccel_{settings()};
  const LibraryContext reference_ = LibraryContext::with_default_provider();
  const PairMaker maker_{kaccel_.library(), reference_, "AES-128-CBC"};
  const Bytes data_ = Bytes(64, 0x77);
  std::uint64_t uses_ = 0;
};

TEST_F(KeyLoads, AreOneForOneContextInALoop) {
  const Pair pair = keyed(1);
  EXPECT_EQ(keys_loaded(), 0U) << "nothing was asked of hardware yet";
  for (int i = 0; i < 200; ++i) use(pair);
  EXPECT_EQ(keys_loaded(), 1U);
}

// Units and messages under one key. libssl does each record in a duplicate that it frees again.
TEST_F(KeyLoads, AreOneForManyMessages) {
  for (const char* algorithm : {"AES-128-XTS", "AES-128-GCM", "HMAC-SHA256"}) {
    if (!has_hardware(algorithm)) continue;
    const std::uint64_t before = keys_loaded();
    const PairMaker messages = maker(algorithm);
    const Pair pair = keyed(messages, 1);
    for (int i = 0; i < 20; ++i) use(pair);
    EXPECT_EQ(keys_loaded() - before, 1U) << algorithm;
    for (int i = 0; i < 20; ++i) use(pair->duplicate());
    EXPECT_EQ(keys_loaded() - before, 1U) << algorithm;
  }
}

// As libssl's HMAC: the context that has the key is used for nothing else than to be copied.
TEST_F(KeyLoads, AreOneForManyDuplicatesAlone) {
  if (!has_hardware("HMAC-SHA256")) GTEST_SKIP() << "no hardware for HMAC-SHA256";
  const PairMaker messages = maker("HMAC-SHA256");
  const Pair pair = keyed(messages, 1);
  for (int i = 0; i < 20; ++i) use(pair->duplicate());
  EXPECT_EQ(keys_loaded(), 1U);
}

TEST_F(KeyLoads, AreOneEachForTwoContextsThatAlternate) {
  const Pair first = keyed(1);
  const Pair second = keyed(2);
  for (int i = 0; i < 200; ++i) {
    use(first);
    use(second);
  }
  EXPECT_EQ(keys_loaded(), 2U);
}

TEST_F(KeyLoads, AreNoneForADuplicate) {
  Pair pair = keyed(1);
  use(pair);
  const Pair copy = pair->duplicate();
  use(copy);
  use(pair);
  pair.reset();
  use(copy);
  const Pair copy_of_the_copy = copy->duplicate();
  use(copy_of_the_copy);
  EXPECT_EQ(keys_loaded(), 1U);
}

TEST_F(KeyLoads, AreNoneForTheSameKeyAgain) {
  const Pair pair = keyed(1);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(pair->init(1, true), "");
    use(pair);
  }
  EXPECT_EQ(keys_loaded(), 1U);
  // Whoever sets it.
  const Pair other = keyed(1);
  use(other);
  EXPECT_EQ(keys_loaded(), 1U);
  ASSERT_EQ(pair->init(2, true), "");
  use(pair);
  EXPECT_EQ(keys_loaded(), 2U);
}

TEST_F(KeyLoads, AreOneForEachDirectionOfAContext) {
  const Pair pair = keyed(1);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(pair->init(1, i % 2 == 0), "");
    use(pair);
  }
  EXPECT_EQ(keys_loaded(), 2U);
}

// The worst case of giving up what was used longest ago.
TEST_F(KeyLoads, AreOneAUseForAThousandContextsInTurn) {
  std::vector<Pair> pairs;
  for (std::uint64_t i = 0; i < 1000; ++i) pairs.push_back(keyed(i));
  for (int round = 0; round < 3; ++round) {
    for (const Pair& pair : pairs) use(pair);
  }
  EXPECT_EQ(keys_loaded(), 3000U);
}

TEST_F(KeyLoads, AreOneEachForAsManyContextsAsSessions) {
  std::vector<Pair> pairs;
  for (std::uint64_t i = 0; i < sessions; ++i) pairs.push_back(keyed(i));
  for (int round = 0; round < 5; ++round) {
    for (const Pair& pair : pairs) use(pair);
  }
  EXPECT_EQ(keys_loaded(), sessions);
}

TEST_F(KeyLoads, AreTwoEachForHalfAsManyContextsInBothDirections) {
  std::vector<Pair> pairs;
  for (std::uint64_t i = 0; i < sessions / 2; ++i) pairs.push_back(keyed(i));
  for (int round = 0; round < 6; ++round) {
    for (std::uint64_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ(pairs[i]->init(i, round % 2 == 0), "");
      use(pairs[i]);
    }
  }
  EXPECT_EQ(keys_loaded(), sessions);
}

// Some contexts are used all the time, others once: those keep their sessions.
TEST_F(KeyLoads, AreNotMoreForContextsInUseWhileOthersComeAndGo) {
  std::vector<Pair> busy;
  for (std::uint64_t i = 0; i < sessions / 2; ++i) busy.push_back(keyed(i));
  std::vector<Pair> passing;
  for (std::uint64_t i = 0; i < 500; ++i) {
    use(busy[i % busy.size()]);
    passing.push_back(keyed(1000 + i));
    // Half of them stay, half are freed.
    use(passing.back());
    if (i % 2 == 0) passing.pop_back();
  }
  EXPECT_EQ(keys_loaded(), busy.size() + 500);
}

}  // namespace
}  // namespace kaccel::testing
