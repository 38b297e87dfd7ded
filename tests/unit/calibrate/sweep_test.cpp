#include "calibrate/sweep.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kaccel::calibrate {
namespace {

// A side with a fixed time an operation, that remembers what it was asked for.
struct FixedSide {
  std::uint64_t ns_per_operation;
  std::vector<unsigned> asked;

  Side side() {
    return [this](std::size_t, unsigned operations) {
      asked.push_back(operations);
      return Cost{ns_per_operation * operations, 0};
    };
  }
};

const std::vector<unsigned> short_run{4, 8};
const std::vector<unsigned> long_run{4, 8, 16};

TEST(Sweep, FarApartSidesAreMeasuredEightTimes) {
  FixedSide software{100, {}};
  FixedSide hardware{200, {}};
  const auto result = measure_size(64, software.side(), hardware.side());
  EXPECT_EQ(result.winner, Winner::software);
  EXPECT_EQ(result.operations, 8u);
  EXPECT_EQ(result.hardware.wall_ns, 1600u);
  EXPECT_EQ(software.asked, short_run);
  EXPECT_EQ(hardware.asked, short_run);
}

TEST(Sweep, SidesWithinTenPercentOfTheLowerAreMeasuredSixteenTimesMore) {
  FixedSide software{1100, {}};
  FixedSide hardware{1000, {}};
  const auto result = measure_size(64, software.side(), hardware.side());
  EXPECT_EQ(result.winner, Winner::hardware);
  EXPECT_EQ(result.operations, 24u);
  EXPECT_EQ(software.asked, long_run);
  EXPECT_EQ(hardware.asked, long_run);
}

TEST(Sweep, JustOverTenPercentIsFarApart) {
  FixedSide software{1101, {}};
  FixedSide hardware{1000, {}};
  EXPECT_EQ(measure_size(64, software.side(), hardware.side()).operations, 8u);
}

TEST(Sweep, EqualTotalsCountForSoftware) {
  FixedSide software{1000, {}};
  FixedSide hardware{1000, {}};
  const auto result = measure_size(64, software.side(), hardware.side());
  EXPECT_EQ(result.winner, Winner::software);
  EXPECT_EQ(result.operations, 24u);
}

TEST(Sweep, TheFurtherOperationsDecideTogetherWithTheFirst) {
  FixedSide software{1000, {}};
  const Side hardware = [](std::size_t, unsigned operations) {
    // A little faster at first, slower later.
    return Cost{operations == 16 ? 1200u * 16 : 950u * operations, 0};
  };
  EXPECT_EQ(measure_size(64, software.side(), hardware).winner, Winner::software);
}

TEST(Sweep, ASideThatCannotBeMeasuredFailsTheSize) {
  FixedSide software{1000, {}};
  const Side hardware = [](std::size_t, unsigned) -> Cost { throw MeasurementError("broken"); };
  const auto result = measure_size(64, software.side(), hardware);
  EXPECT_EQ(result.winner, Winner::failed);
  EXPECT_EQ(result.size, 64u);
  EXPECT_EQ(result.operations, 0u);
  EXPECT_EQ(result.problem, "broken");
}

TEST(Sweep, AForbiddenSizeCountsAsNothingMeasured) {
  const auto result = forbidden_size(16);
  EXPECT_EQ(result.winner, Winner::forbidden);
  EXPECT_EQ(result.size, 16u);
  EXPECT_EQ(result.operations, 0u);
}

TEST(Sweep, SizesAreRoundedUpToWholeBlocks) {
  EXPECT_EQ(round_to_blocks({1420, 16, 10, 1424}, 16), (std::vector<std::size_t>{16, 1424}));
  EXPECT_EQ(round_to_blocks(default_sizes(), 16),
            (std::vector<std::size_t>{16, 64, 128, 256, 512, 1024, 1424, 2048, 4096, 8192, 16384}));
}

}  // namespace
}  // namespace kaccel::calibrate
