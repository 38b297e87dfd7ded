#include "calibrate/measure_algorithm.hpp"

#include <gtest/gtest.h>

#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

MeasurementPlan plan_for(const char* algorithm, std::vector<std::size_t> sizes,
                         const kernel::Restrictions& restrictions = {}) {
  return {algorithm_table[find_algorithm(algorithm)], "fake", restrictions,
          std::move(sizes)};
}

void ignore_progress(kernel::Direction, std::size_t) {}

TEST(MeasureAlgorithm, MeasuresBothSidesAtEverySizeInBothDirections) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  int steps = 0;
  const auto result = measure_algorithm(plan_for("AES-128-CBC", {16, 1024}), transport,
                                        [&](kernel::Direction, std::size_t) { ++steps; });
  EXPECT_EQ(steps, 4);
  for (const auto* direction : {&result.encrypt, &result.decrypt}) {
    ASSERT_EQ(direction->size(), 2u);
    for (const auto& m : *direction) {
      EXPECT_EQ(m.winner, Winner::software) << m.problem;
      EXPECT_GE(m.operations, 8u);
      EXPECT_GE(m.hardware.wall_ns, 500'000u * m.operations);
      EXPECT_GT(m.software.wall_ns, 0u);
      EXPECT_GT(m.hardware.cpu_ns, 0u);
    }
  }
}

TEST(MeasureAlgorithm, AForbiddenSizeIsNotSentToTheDriver) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  transport.behaviour = bad_lengths([](std::size_t n) { return n < 17; }, Behaviour::crashing);
  const auto result = measure_algorithm(plan_for("AES-128-CBC", {16, 1024}, {.min_size = 17}),
                                        transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::forbidden);
  EXPECT_EQ(result.encrypt[1].winner, Winner::software) << result.encrypt[1].problem;
}

TEST(MeasureAlgorithm, ARequestThatFellBackToSoftwareIsAFailedMeasurement) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 64; }, Behaviour::failing);
  const auto result =
      measure_algorithm(plan_for("AES-256-CTR", {16, 64}), transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::software);
  EXPECT_EQ(result.encrypt[1].winner, Winner::failed);
}

TEST(MeasureAlgorithm, AHangFailsTheRestAndDoesNotHangTheCaller) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 64; }, Behaviour::hanging);
  const auto result =
      measure_algorithm(plan_for("AES-128-ECB", {16, 64, 128}), transport, ignore_progress,
                        {milliseconds(1500), milliseconds(30'000)});
  ASSERT_EQ(result.encrypt.size(), 3u);
  EXPECT_EQ(result.encrypt[0].winner, Winner::software);
  EXPECT_EQ(result.encrypt[1].winner, Winner::failed);
  EXPECT_NE(result.encrypt[2].problem.find("hangs"), std::string::npos);
  ASSERT_EQ(result.decrypt.size(), 3u);
  EXPECT_EQ(result.decrypt[0].winner, Winner::failed);
}

}  // namespace
}  // namespace kaccel::calibrate
