#include "provider/routing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace kaccel {
namespace {

constexpr kernel::Restrictions none{};
constexpr kernel::Restrictions qce{.refused_keys = kernel::refuse_key(24), .min_size = 17};

struct Row {
  Threshold threshold;
  std::size_t size;
  std::size_t key_size;
  kernel::Restrictions restrictions;
  Route route;
  RouteReason reason;
};

TEST(RoutingTest, DecidesByThresholdThenKeySizeThenSize) {
  using enum Route;
  using enum RouteReason;
  const std::array rows{
      Row{-1, 1'000'000, 16, none, software, threshold_is_never},
      Row{-1, 0, 16, qce, software, threshold_is_never},
      Row{0, 16, 16, none, hardware, threshold_is_zero},
      Row{0, 1'000'000, 32, none, hardware, threshold_is_zero},
      Row{0, 0, 16, none, software, driver_refuses_size},
      Row{1, 1, 16, none, software, within_threshold},
      Row{1, 15, 16, none, software, too_small_for_any_hardware},
      Row{1, 16, 16, none, software, too_small_for_any_hardware},
      Row{1, 17, 16, none, hardware, above_threshold},
      Row{1, 32, 16, none, hardware, above_threshold},
      Row{512, 511, 16, none, software, within_threshold},
      Row{512, 512, 16, none, software, within_threshold},
      Row{512, 513, 16, none, hardware, above_threshold},
      Row{512, 528, 16, none, hardware, above_threshold},
      Row{0, 16, 16, qce, software, driver_refuses_size},
      Row{0, 32, 16, qce, hardware, threshold_is_zero},
      Row{0, 32, 24, qce, software, driver_refuses_key_size},
      Row{512, 1024, 24, qce, software, driver_refuses_key_size},
      Row{512, 512, 24, qce, software, within_threshold},
      Row{512, 1024, 32, qce, hardware, above_threshold},
  };
  for (const Row& row : rows) {
    const Decision decision = decide(row.threshold, row.size, row.key_size, row.restrictions);
    EXPECT_EQ(decision, (Decision{row.route, row.reason}))
        << row.size << " bytes at threshold " << row.threshold << ", key of " << row.key_size
        << ": " << describe(decision.reason);
  }
}

TEST(RoutingTest, KeepsADriversRuleOfMultiples) {
  constexpr kernel::Restrictions sectors{.multiple_above = 512, .size_multiple = 512};
  EXPECT_EQ(decide(0, 512, 16, sectors).route, Route::hardware);
  EXPECT_EQ(decide(0, 496, 16, sectors).route, Route::hardware);
  EXPECT_EQ(decide(0, 528, 16, sectors).reason, RouteReason::driver_refuses_size);
  EXPECT_EQ(decide(0, 1024, 16, sectors).route, Route::hardware);
}

TEST(RoutingTest, KeepsBothRulesOfMultiples) {
  using kernel::Restrictions;
  const Restrictions rules[] = {{},
                                {.multiple_above = 512, .size_multiple = 512},
                                {.multiple_above = 1024, .size_multiple = 1024},
                                {.multiple_above = 64, .size_multiple = 96},
                                {.min_size = 17, .max_size = 2000}};
  for (const Restrictions& a : rules) {
    for (const Restrictions& b : rules) {
      const Restrictions both = combine(a, b);
      EXPECT_EQ(both, combine(b, a));
      for (std::size_t size = 0; size <= 4096; ++size) {
        if (!permits_size(both, size)) continue;
        ASSERT_TRUE(permits_size(a, size) && permits_size(b, size)) << size;
      }
    }
    EXPECT_EQ(combine(a, a), a);
    EXPECT_EQ(combine(a, {}), a);
  }
  EXPECT_TRUE(permits_size(combine(rules[1], rules[2]), 2048));
}

TEST(RoutingTest, LeavesLongDataToBeSplit) {
  constexpr kernel::Restrictions short_requests{.max_size = 4096};
  EXPECT_EQ(decide(0, 1'000'000, 16, short_requests).route, Route::hardware);
}

TEST(RoutingTest, HasALimitUpToWhichNoCallGoesToHardware) {
  EXPECT_EQ(software_limit(never_hardware), SIZE_MAX);
  EXPECT_EQ(software_limit(always_hardware), 0U);
  EXPECT_EQ(software_limit(512), 512U);
  for (const Threshold threshold : {-1, 0, 1, 15, 16, 17, 512}) {
    for (std::size_t size = 0; size <= std::min<std::size_t>(software_limit(threshold), 1000);
         ++size) {
      ASSERT_EQ(decide(threshold, size, 16, none).route, Route::software)
          << size << " at " << threshold;
    }
  }
}

TEST(RoutingTest, HasAPhraseForEachReason) {
  for (int i = 0; i <= static_cast<int>(RouteReason::driver_refuses_size); ++i) {
    EXPECT_NE(std::string_view(describe(static_cast<RouteReason>(i))), "unknown") << i;
  }
}

// What a context compares with on each call must say what decide() says.
TEST(RoutingTest, ComesOutTheSameFromTheSmallestHardwareSize) {
  const kernel::Restrictions xts_rule{.multiple_above = 512, .size_multiple = 512};
  for (const kernel::Restrictions& restrictions :
       {kernel::Restrictions{}, kernel::Restrictions{.min_size = 17},
        kernel::Restrictions{.refused_keys = kernel::refuse_key(24), .min_size = 600}, xts_rule}) {
    for (const Threshold threshold : {-1, 0, 1, 15, 16, 17, 512}) {
      for (const std::size_t key_size : {std::size_t{16}, std::size_t{24}}) {
        const std::size_t smallest = smallest_hardware_size(threshold, key_size, restrictions);
        for (std::size_t size = 0; size <= 1100; ++size) {
          const bool hardware =
              decide(threshold, size, key_size, restrictions).route == Route::hardware;
          ASSERT_EQ(size >= smallest && permits_size(restrictions, size), hardware)
              << "threshold " << threshold << ", size " << size << ", key " << key_size;
          ASSERT_FALSE(hardware && size <= software_limit(threshold));
        }
      }
    }
  }
}

}  // namespace
}  // namespace kaccel
