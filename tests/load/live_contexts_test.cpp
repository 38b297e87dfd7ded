// Ten thousand contexts alive, each of which has used hardware: no more sessions than the limit.
//
//   KACCEL_TEST_CONTEXTS=N   another number of contexts, not a multiple of 7

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/load/alg_sockets.hpp"
#include "tests/support/context_pair.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

class LiveContexts : public ::testing::TestWithParam<std::size_t> {
 protected:
  // Open sessions as each side sees them, against the limit.
  void expect_bounded(const KaccelUnderTest& kaccel) const {
    const std::size_t limit = GetParam();
    EXPECT_EQ(kaccel.counter("sessions-open"), limit);
    if (kaccel.fake() != nullptr) {
      EXPECT_EQ(kaccel.fake()->open_sessions(), limit);
      EXPECT_EQ(kaccel.fake()->most_open_sessions(), limit);
      EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
      EXPECT_EQ(count_alg_sockets(), 0U);
    } else {
      EXPECT_EQ(count_alg_sockets(), 2 * limit) << "two a session, in /proc/self/fd";
    }
  }

  const LibraryContext reference_ = LibraryContext::with_default_provider();
};

TEST_P(LiveContexts, HoldNoMoreSessionsThanTheLimitAndGoOnRightly) {
  constexpr std::size_t stride = 7;
  const std::size_t count = number_from_environment("KACCEL_TEST_CONTEXTS", 10'000);
  Settings settings = settings_with_thresholds(16, 16);
  settings.max_sessions = GetParam();
  {
    const KaccelUnderTest kaccel(settings);
    ASSERT_TRUE(has_hardware("AES-128-CBC"));
    const PairMaker maker(kaccel.library(), reference_, "AES-128-CBC");
    const Bytes data(96, 0x3c);
    std::vector<std::unique_ptr<ContextPair>> contexts;
    for (std::size_t i = 0; i < count; ++i) {
      contexts.push_back(maker.make());
      ASSERT_EQ(contexts.back()->init(i, i % 3 != 0), "");
      ASSERT_EQ(contexts.back()->use(data), "") << "context " << i;
    }
    EXPECT_EQ(kaccel.counter("hardware-calls"), count);
    expect_bounded(kaccel);

    // Never one whose session is still there, then one after the other the other way round.
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(contexts[i * stride % count]->use(data), "") << "context " << i * stride % count;
    }
    for (std::size_t i = count; i-- > 0;) ASSERT_EQ(contexts[i]->use(data), "") << "context " << i;
    EXPECT_EQ(kaccel.counter("hardware-calls"), 3 * count);
    EXPECT_EQ(kaccel.counter("requests"), 3 * count);
    EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
    EXPECT_GT(kaccel.counter("keys-loaded"), 3 * count - 2 * GetParam());
    expect_bounded(kaccel);

    contexts.clear();
    expect_bounded(kaccel);
  }
  EXPECT_EQ(count_alg_sockets(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Over, LiveContexts, ::testing::Values(1U, 16U, 64U),
                         [](const auto& row) { return std::to_string(row.param) + "Sessions"; });

}  // namespace
}  // namespace kaccel::testing
