#include "calibrate/length_rule.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kaccel::calibrate {
namespace {

std::optional<kernel::Restrictions> rule_of(const std::vector<LengthResult>& results) {
  return find_length_rule(results);
}

TEST(LengthRule, GoodAtEveryLengthNeedsNoRestriction) {
  EXPECT_EQ(rule_of({{16, true}, {32, true}}), kernel::Restrictions{});
}

TEST(LengthRule, BadShortLengthsGiveTheSmallestGoodOne) {
  EXPECT_EQ(rule_of({{16, false}, {32, true}, {48, true}}), kernel::Restrictions{.min_size = 32});
}

TEST(LengthRule, BadLongLengthsGiveTheLargestGoodOne) {
  EXPECT_EQ(rule_of({{16, true}, {32, true}, {48, false}}), kernel::Restrictions{.max_size = 32});
}

TEST(LengthRule, BadOnBothEndsGivesBoth) {
  EXPECT_EQ(rule_of({{16, false}, {32, true}, {48, false}}),
            (kernel::Restrictions{.min_size = 32, .max_size = 32}));
}

TEST(LengthRule, GoodMultiplesAboveALengthGiveTheMultiple) {
  EXPECT_EQ(rule_of({{256, true}, {512, true}, {528, false}, {1024, true}, {1040, false}}),
            (kernel::Restrictions{.multiple_above = 512, .size_multiple = 512}));
}

TEST(LengthRule, TheLargestMultipleThatFitsCounts) {
  EXPECT_EQ(rule_of({{32, true}, {48, false}, {64, true}, {80, false}, {96, true}}),
            (kernel::Restrictions{.multiple_above = 32, .size_multiple = 32}));
  EXPECT_EQ(rule_of({{32, true}, {96, false}, {128, true}}),
            (kernel::Restrictions{.multiple_above = 64, .size_multiple = 64}));
}

TEST(LengthRule, AMultipleGoesTogetherWithBothEnds) {
  EXPECT_EQ(rule_of({{16, false},
                     {32, true},
                     {512, true},
                     {528, false},
                     {1024, true},
                     {2048, false},
                     {2064, false}}),
            (kernel::Restrictions{
                .min_size = 32, .max_size = 1024, .multiple_above = 512, .size_multiple = 512}));
}

TEST(LengthRule, AnEndIsPreferredToAMultiple) {
  EXPECT_EQ(rule_of({{512, true}, {528, false}, {1040, false}}),
            kernel::Restrictions{.max_size = 512});
}

TEST(LengthRule, AMultipleMustExplainEveryLength) {
  EXPECT_EQ(rule_of({{512, true}, {528, false}, {1024, true}, {1040, true}}), std::nullopt);
  EXPECT_EQ(
      rule_of({{496, false}, {512, true}, {528, false}, {1024, true}, {1536, false}, {2048, true}}),
      std::nullopt);
}

TEST(LengthRule, ABadLengthBetweenGoodOnesIsNoRule) {
  EXPECT_EQ(rule_of({{16, true}, {32, false}, {48, true}}), std::nullopt);
}

TEST(LengthRule, NoGoodLengthIsNoRule) {
  EXPECT_EQ(rule_of({{16, false}, {32, false}}), std::nullopt);
  EXPECT_EQ(rule_of({}), std::nullopt);
}

}  // namespace
}  // namespace kaccel::calibrate
