#include <gtest/gtest.h>

#include <string_view>

#include "kernel-bridge/driver_health.hpp"

namespace kaccel::kernel {
namespace {

int skipped_calls(DriverHealth& health) {
  int skipped = 0;
  while (!health.may_try()) ++skipped;
  return skipped;
}

TEST(DriverHealthTest, TriesADriverThatIsWell) {
  DriverHealth health;
  EXPECT_TRUE(health.may_try());
  EXPECT_FALSE(health.is_out());
}

TEST(DriverHealthTest, TakesADriverOutThatIsNotThere) {
  for (const Failure failure : {Failure::no_af_alg, Failure::denied, Failure::no_driver}) {
    DriverHealth health;
    health.failed(failure);
    EXPECT_TRUE(health.is_out()) << describe(failure);
    EXPECT_FALSE(health.may_try());
  }
}

TEST(DriverHealthTest, TakesADriverOutAfterFailuresInARow) {
  DriverHealth health;
  for (std::uint32_t i = 1; i < DriverHealth::most_failures; ++i) {
    health.failed(Failure::driver_error);
    EXPECT_TRUE(health.may_try());
  }
  health.failed(Failure::short_transfer);
  EXPECT_TRUE(health.is_out());
  health.succeeded();  // by a call that was under way
  EXPECT_TRUE(health.is_out());
}

TEST(DriverHealthTest, CountsFromTheStartAfterASuccess) {
  DriverHealth health;
  for (int i = 0; i < 100; ++i) {
    health.failed(Failure::driver_error);
    health.failed(Failure::driver_error);
    health.succeeded();
  }
  EXPECT_TRUE(health.may_try());
}

TEST(DriverHealthTest, DoesNotBlameTheDriverForAKey) {
  DriverHealth health;
  for (int i = 0; i < 100; ++i) health.failed(Failure::bad_key);
  EXPECT_TRUE(health.may_try());
}

TEST(DriverHealthTest, AsksLessAndLessOftenWhileAShortageLasts) {
  for (const Failure failure : {Failure::no_descriptors, Failure::no_memory,
                                Failure::pool_exhausted, Failure::descriptor_lost}) {
    DriverHealth health;
    health.failed(failure);
    EXPECT_EQ(skipped_calls(health), 1) << describe(failure);
    health.failed(failure);
    EXPECT_EQ(skipped_calls(health), 3);
    for (int i = 0; i < 50; ++i) health.failed(failure);
    EXPECT_EQ(skipped_calls(health), 1023);
    EXPECT_FALSE(health.is_out());
    health.succeeded();
    health.failed(failure);
    EXPECT_EQ(skipped_calls(health), 1);
  }
}

TEST(DriverHealthTest, DoesNotBlameTheDriverForAShortageBefore) {
  DriverHealth health;
  for (int i = 0; i < 50; ++i) health.failed(Failure::no_descriptors);
  skipped_calls(health);
  health.failed(Failure::driver_error);
  EXPECT_FALSE(health.is_out());
}

TEST(DriverHealthTest, HasAPhraseForEachFailure) {
  for (auto i = 0; i <= static_cast<int>(Failure::thread_sandboxed); ++i) {
    EXPECT_NE(std::string_view(describe(static_cast<Failure>(i))), "unknown failure") << i;
  }
}

}  // namespace
}  // namespace kaccel::kernel
