#include "calibrate/rule.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kaccel::calibrate {
namespace {

using enum Winner;

Threshold threshold_of(const std::vector<SizeVerdict>& verdicts) {
  return choose_threshold(verdicts);
}

TEST(Rule, ThresholdIsTheSizeBeforeTheOneFromWhichHardwareWins) {
  EXPECT_EQ(threshold_of({{16, software}, {64, software}, {256, hardware}, {1024, hardware}}), 64);
}

// A busy machine made software look slow at 64 bytes.
TEST(Rule, OneWinAmongSizesThatAreLostClearlyDoesNotLowerTheThreshold) {
  EXPECT_EQ(threshold_of({{16, software, 1.2},
                          {64, hardware, 0.3},
                          {128, software, 0.6},
                          {256, software, 0.1},
                          {512, hardware, 0.5}}),
            256);
  EXPECT_EQ(threshold_of({{16, hardware, 3}, {64, software, 2}, {128, software, 1}}),
            never_hardware);
}

// It made hardware look slow at 4096.
TEST(Rule, OneLossAmongSizesThatAreWonClearlyDoesNotRaiseTheThreshold) {
  EXPECT_EQ(threshold_of({{512, software, 0.2},
                          {1024, hardware, 1},
                          {4096, software, 0.4},
                          {16384, hardware, 1.5}}),
            512);
}

TEST(Rule, HardwareThatIsSlowerCountsTwice) {
  EXPECT_EQ(threshold_of({{16, software}, {64, hardware, 0.3}, {256, software, 0.2}}),
            never_hardware);
  EXPECT_EQ(threshold_of({{16, software}, {64, hardware, 0.5}, {256, software, 0.2}}), 16);
}

TEST(Rule, ATieIsSoftwares) {
  EXPECT_EQ(threshold_of({{16, software}, {64, hardware, 0.4}, {256, software, 0.2}}),
            never_hardware);
}

TEST(Rule, HardwareThatNeverWinsIsNeverUsed) {
  EXPECT_EQ(threshold_of({{16, software}, {64, software}}), never_hardware);
  EXPECT_EQ(threshold_of({}), never_hardware);
}

TEST(Rule, HardwareThatWinsAtOneBlockIsAlwaysUsed) {
  EXPECT_EQ(threshold_of({{16, hardware}, {64, hardware}}), always_hardware);
  EXPECT_EQ(threshold_of({{8, hardware, 3}, {64, software}}), always_hardware);
}

TEST(Rule, SizesBelowTheSmallestMeasuredOneStayInSoftware) {
  EXPECT_EQ(threshold_of({{256, hardware}, {512, hardware}}), 255);
}

TEST(Rule, AForbiddenSizeCountsForSoftware) {
  EXPECT_EQ(threshold_of({{16, forbidden}, {64, hardware}}), 16);
  EXPECT_EQ(threshold_of({{16, forbidden}, {64, forbidden}}), never_hardware);
}

// qce's XTS: nothing above 512 bytes that is not whole sectors.
TEST(Rule, AForbiddenSizeBetweenOthersMovesTheThresholdUpNeverDown) {
  EXPECT_EQ(threshold_of({{512, software}, {1024, software}, {1420, forbidden}, {2048, hardware}}),
            1420);
  EXPECT_EQ(
      threshold_of({{512, software}, {1024, hardware, 3}, {1420, forbidden}, {2048, software}}),
      512);
}

TEST(Rule, AFailedMeasurementDoesNotEnableHardware) {
  EXPECT_EQ(threshold_of({{16, failed}, {64, failed}}), never_hardware);
  EXPECT_EQ(threshold_of({{16, software}, {64, failed}, {256, hardware}}), 64);
}

TEST(Rule, WinsBelowAFailedSizeDoNotCount) {
  EXPECT_EQ(threshold_of({{16, software}, {64, hardware}, {256, failed}, {1024, hardware}}), 256);
  EXPECT_EQ(threshold_of({{16, software}, {64, hardware}, {256, failed}}), never_hardware);
}

std::vector<std::size_t> against(const std::vector<SizeVerdict>& verdicts) {
  return sizes_against(verdicts, choose_threshold(verdicts));
}

TEST(Rule, SizesThatTheThresholdSendsToTheSlowerSideAreTold) {
  EXPECT_EQ(against({{16, software}, {64, hardware, 2}, {256, software, 0.1}, {512, hardware}}),
            (std::vector<std::size_t>{256}));
  EXPECT_EQ(against({{16, software}, {64, hardware, 0.1}, {256, software}, {512, hardware}}),
            (std::vector<std::size_t>{64}));
  EXPECT_EQ(against({{16, software}, {64, hardware, 0.1}, {256, software}}),
            (std::vector<std::size_t>{64}));
  EXPECT_EQ(against({{16, software}, {64, hardware}, {256, hardware}}),
            (std::vector<std::size_t>{}));
  EXPECT_EQ(against({{16, software}, {64, forbidden}, {256, hardware}, {512, forbidden}}),
            (std::vector<std::size_t>{}));
}

TEST(Rule, SizesBelowAFailedOneAreNotTold) {
  EXPECT_EQ(against({{16, hardware}, {64, software}, {256, failed}, {512, software}}),
            (std::vector<std::size_t>{}));
}

}  // namespace
}  // namespace kaccel::calibrate
