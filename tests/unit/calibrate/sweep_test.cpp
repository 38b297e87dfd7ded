#include "calibrate/sweep.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace kaccel::calibrate {
namespace {

// A side that remembers what it was asked for.
struct RecordedSide {
  std::function<std::uint64_t(std::size_t size)> ns_per_operation;
  std::vector<unsigned> asked;

  Side side() {
    return [this](std::size_t size, unsigned operations) {
      asked.push_back(operations);
      return Cost{ns_per_operation(size) * operations, 0, operations};
    };
  }
};

// One that takes the same time for all sizes.
RecordedSide fixed_side(std::uint64_t ns) {
  return {[ns](std::size_t) { return ns; }, {}};
}

// One that takes so long a byte, after a fixed time.
RecordedSide linear_side(std::uint64_t ns, std::uint64_t ns_per_byte) {
  return {[=](std::size_t size) { return ns + ns_per_byte * size; }, {}};
}

using Asked = std::vector<unsigned>;

SizeMeasurement measure_once(RecordedSide& software, RecordedSide& hardware) {
  return Sweep(software.side(), hardware.side()).measure(64);
}

TEST(Sweep, FarApartSidesAreMeasuredEightTimes) {
  auto software = fixed_side(100);
  auto hardware = fixed_side(200);
  const auto result = measure_once(software, hardware);
  EXPECT_EQ(result.winner, Winner::software);
  EXPECT_EQ(result.software.operations, 8u);
  EXPECT_EQ(result.hardware.operations, 8u);
  EXPECT_EQ(result.hardware.wall_ns, 1600u);
  EXPECT_EQ(software.asked, (Asked{4, 8}));
  EXPECT_EQ(hardware.asked, (Asked{4, 2, 6}));
}

TEST(Sweep, SidesWithinTenPercentOfTheLowerAreMeasuredSixteenTimesMore) {
  auto software = fixed_side(1100);
  auto hardware = fixed_side(1000);
  const auto result = measure_once(software, hardware);
  EXPECT_EQ(result.winner, Winner::hardware);
  EXPECT_EQ(result.software.operations, 24u);
  EXPECT_EQ(result.hardware.operations, 24u);
  EXPECT_EQ(software.asked, (Asked{4, 8, 16}));
  EXPECT_EQ(hardware.asked, (Asked{4, 2, 6, 16}));
}

TEST(Sweep, JustOverTenPercentIsFarApart) {
  auto software = fixed_side(1101);
  auto hardware = fixed_side(1000);
  EXPECT_EQ(measure_once(software, hardware).hardware.operations, 8u);
}

TEST(Sweep, EqualTotalsCountForSoftware) {
  auto software = fixed_side(1000);
  auto hardware = fixed_side(1000);
  const auto result = measure_once(software, hardware);
  EXPECT_EQ(result.winner, Winner::software);
  EXPECT_EQ(result.hardware.operations, 24u);
}

TEST(Sweep, TheFurtherOperationsDecideTogetherWithTheFirst) {
  auto software = fixed_side(1000);
  const Side hardware = [](std::size_t, unsigned operations) {
    // A little faster at first, slower later.
    return Cost{operations == 16 ? 1200u * 16 : 950u * operations, 0, operations};
  };
  EXPECT_EQ(Sweep(software.side(), hardware).measure(64).winner, Winner::software);
}

// 8 of software take 8000; 2 of hardware 8802, which is more than 10% above.
TEST(Sweep, HardwareIsGivenUpOnlyWhereTheRestCannotChangeTheVerdict) {
  auto software = fixed_side(1000);
  auto hopeless = fixed_side(4401);
  const auto lost = measure_once(software, hopeless);
  EXPECT_EQ(lost.winner, Winner::software);
  EXPECT_EQ(hopeless.asked, (Asked{4, 2}));
  EXPECT_EQ(lost.hardware.operations, 2u);
  EXPECT_EQ(lost.hardware.wall_ns, 8802u);
  EXPECT_EQ(lost.software.operations, 8u);

  auto slow = fixed_side(4400);
  EXPECT_EQ(measure_once(software, slow).hardware.operations, 8u);
}

TEST(Sweep, ASlowStartDoesNotDecideAgainstHardware) {
  auto software = fixed_side(1000);
  const Side hardware = [](std::size_t, unsigned operations) {
    return Cost{operations == 2 ? 4300u * 2 : 10u * operations, 0, operations};
  };
  // 8600 in all against 8000: within 10%, and the 16 further ones are fast.
  EXPECT_EQ(Sweep(software.side(), hardware).measure(64).winner, Winner::hardware);
}

class LongSweep : public ::testing::Test {
 protected:
  // Operations asked of each side at one more size.
  std::pair<Asked, Asked> measure(std::size_t size) {
    software_.asked.clear();
    hardware_.asked.clear();
    last_ = sweep_.measure(size);
    return {software_.asked, hardware_.asked};
  }

  const std::pair<Asked, Asked> in_full_{{4, 8}, {4, 2, 6}};
  const std::pair<Asked, Asked> in_brief_{{1, 2}, {1, 2}};

  RecordedSide software_ = linear_side(0, 10);
  RecordedSide hardware_ = linear_side(1000, 0);
  Sweep sweep_{software_.side(), hardware_.side()};
  SizeMeasurement last_;
};

TEST_F(LongSweep, TheDecidingSizeAndTheNextAreMeasuredInFullHoweverClear) {
  EXPECT_EQ(measure(64), in_full_);
  EXPECT_EQ(measure(1024), in_full_);  // 10 times faster
  EXPECT_EQ(measure(2048), in_full_);
  EXPECT_EQ(measure(4096), in_brief_);
  EXPECT_EQ(measure(8192), in_brief_);
  EXPECT_EQ(last_.winner, Winner::hardware);
  EXPECT_EQ(last_.software.operations, 2u);
  EXPECT_EQ(last_.software.wall_ns, 163'840u);
}

TEST_F(LongSweep, WithoutAClearLeadEverySizeIsMeasuredInFull) {
  EXPECT_EQ(measure(112), in_full_);
  EXPECT_EQ(measure(120), in_full_);
  EXPECT_EQ(measure(130), in_full_);
  EXPECT_EQ(measure(134), in_full_);  // the first at which hardware takes 3/4 of software's time
  EXPECT_EQ(measure(140), in_brief_);
}

TEST_F(LongSweep, ALeadThatIsNotFoundAgainIsMeasuredInFull) {
  hardware_.ns_per_operation = [](std::size_t size) { return size == 4096 ? 50'000 : 1000; };
  measure(1024);
  measure(2048);
  EXPECT_EQ(measure(4096), (std::pair<Asked, Asked>{{1, 2, 4, 8}, {1, 2, 4, 2, 6}}));
  EXPECT_EQ(last_.winner, Winner::software);
  EXPECT_EQ(last_.hardware.operations, 8u);
  EXPECT_EQ(measure(8192), in_full_);
}

TEST_F(LongSweep, AFailedSizeBringsTheRuleBack) {
  hardware_.ns_per_operation = [](std::size_t size) -> std::uint64_t {
    if (size == 4096) throw MeasurementError("broken");
    return 1000;
  };
  measure(1024);
  measure(2048);
  measure(4096);
  EXPECT_EQ(last_.winner, Winner::failed);
  EXPECT_EQ(measure(8192), in_full_);
  EXPECT_EQ(measure(8200), in_full_);
  EXPECT_EQ(measure(8208), in_brief_);
}

// Of the CPU, this side spends a tenth of the time it takes.
Side waiting_side(std::uint64_t ns) {
  return [ns](std::size_t, unsigned operations) {
    return Cost{ns * operations, ns * operations / 10, operations};
  };
}

Side busy_side(std::uint64_t ns) {
  return [ns](std::size_t, unsigned operations) {
    return Cost{ns * operations, ns * operations, operations};
  };
}

TEST(Sweep, OffloadTakesHardwareThatIsSlowerForTheCpuItSaves) {
  EXPECT_EQ(Sweep(busy_side(1000), waiting_side(1400)).measure(64).winner, Winner::software);
  EXPECT_EQ(Sweep(busy_side(1000), waiting_side(1400), {50}).measure(64).winner, Winner::hardware);
  EXPECT_EQ(Sweep(busy_side(1000), busy_side(1400), {50}).measure(64).winner, Winner::software);
  EXPECT_EQ(Sweep(busy_side(1000), waiting_side(1501), {50}).measure(64).winner, Winner::software);
}

TEST(Sweep, OffloadMeasuresMoreNearTheLongestTimeItAccepts) {
  EXPECT_EQ(Sweep(busy_side(1000), waiting_side(1650), {50}).measure(64).hardware.operations, 24u);
  EXPECT_EQ(Sweep(busy_side(1000), waiting_side(1651), {50}).measure(64).hardware.operations, 8u);
}

TEST(Sweep, OffloadGivesHardwareUpOnlyBeyondWhatItAccepts) {
  EXPECT_EQ(Sweep(busy_side(1000), waiting_side(6600), {50}).measure(64).hardware.operations, 8u);
  EXPECT_EQ(Sweep(busy_side(1000), waiting_side(6601), {50}).measure(64).hardware.operations, 2u);
}

TEST(Sweep, ASideThatCannotBeMeasuredFailsTheSize) {
  auto software = fixed_side(1000);
  const Side hardware = [](std::size_t, unsigned) -> Cost { throw MeasurementError("broken"); };
  const auto result = Sweep(software.side(), hardware).measure(64);
  EXPECT_EQ(result.winner, Winner::failed);
  EXPECT_EQ(result.size, 64u);
  EXPECT_EQ(result.software.operations, 0u);
  EXPECT_EQ(result.problem, "broken");
}

TEST(Sweep, AForbiddenSizeCountsAsNothingMeasured) {
  const auto result = forbidden_size(16);
  EXPECT_EQ(result.winner, Winner::forbidden);
  EXPECT_EQ(result.size, 16u);
  EXPECT_EQ(result.software.operations, 0u);
}

TEST(Sweep, SizesAreRoundedUpToWholeBlocks) {
  EXPECT_EQ(round_to_blocks({1420, 16, 10, 1424}, 16), (std::vector<std::size_t>{16, 1424}));
  EXPECT_EQ(round_to_blocks(default_sizes(), 16),
            (std::vector<std::size_t>{16, 64, 128, 256, 512, 1024, 1424, 2048, 4096, 8192, 16384}));
}

}  // namespace
}  // namespace kaccel::calibrate
