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

TEST(LengthRule, ABadLengthBetweenGoodOnesIsNoRule) {
  EXPECT_EQ(rule_of({{16, true}, {32, false}, {48, true}}), std::nullopt);
}

TEST(LengthRule, NoGoodLengthIsNoRule) {
  EXPECT_EQ(rule_of({{16, false}, {32, false}}), std::nullopt);
  EXPECT_EQ(rule_of({}), std::nullopt);
}

}  // namespace
}  // namespace kaccel::calibrate
