#include "calibrate/measure_algorithm.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

MeasurementPlan plan_for(const char* algorithm, std::vector<std::size_t> sizes,
                         const CallLimits& limits = {}) {
  return {algorithm_table[find_algorithm(algorithm)], "fake", limits, std::move(sizes)};
}

// With software that outlives the test, as in a run over many algorithms.
BothDirections measure(const MeasurementPlan& plan, FakeTransport& transport, const OnSize& on_size,
                       const HelperLimits& limits = {}) {
  static SoftwareContexts software;
  return measure_algorithm(plan, software, transport, on_size, limits);
}

void ignore_progress(kernel::Direction, std::size_t) {}

TEST(MeasureAlgorithm, MeasuresBothSidesAtEverySizeInBothDirections) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  int steps = 0;
  const auto result = measure(plan_for("AES-128-CBC", {16, 1024}), transport,
                              [&](kernel::Direction, std::size_t) { ++steps; });
  EXPECT_EQ(steps, 4);
  for (const auto* direction : {&result.encrypt, &result.decrypt}) {
    ASSERT_EQ(direction->size(), 2u);
    for (const auto& m : *direction) {
      EXPECT_EQ(m.winner, Winner::software) << m.problem;
      EXPECT_GE(m.software.operations, 8u);
      EXPECT_GE(m.hardware.operations, 2u);
      EXPECT_GE(m.hardware.wall_ns, 500'000u * m.hardware.operations);
      EXPECT_GT(m.software.wall_ns, 0u);
      EXPECT_GT(m.hardware.cpu_ns, 0u);
    }
  }
}

TEST(MeasureAlgorithm, AForbiddenSizeIsNotSentToTheDriver) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  transport.behaviour = bad_lengths([](std::size_t n) { return n < 17; }, Behaviour::crashing);
  const auto result =
      measure(plan_for("AES-128-CBC", {16, 1024}, {{.min_size = 17}}), transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::forbidden);
  EXPECT_EQ(result.encrypt[1].winner, Winner::software) << result.encrypt[1].problem;
}

TEST(MeasureAlgorithm, ARequestThatFellBackToSoftwareIsAFailedMeasurement) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 64; }, Behaviour::failing);
  const auto result = measure(plan_for("AES-256-CTR", {16, 64}), transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::software);
  EXPECT_EQ(result.encrypt[1].winner, Winner::failed);
}

TEST(MeasureAlgorithm, DataUnitsAreMeasuredWhereTheDriverMaySeeThem) {
  const CallLimits qce{{.min_size = 17, .multiple_above = 512, .size_multiple = 512}};
  const std::vector<std::size_t> sizes{16, 64, 512, 1024, 1420, 1424, 2048};
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  transport.behaviour = bad_lengths(
      [&](std::size_t n) { return n % 16 != 0 || !kernel::permits_size(qce.restrictions, n); },
      Behaviour::crashing);
  const auto result = measure(plan_for("AES-128-XTS", sizes, qce), transport, ignore_progress);
  for (const auto* direction : {&result.encrypt, &result.decrypt}) {
    ASSERT_EQ(direction->size(), sizes.size());
    for (const auto& m : *direction) {
      const bool forbidden = m.size == 16 || m.size == 1420 || m.size == 1424;
      EXPECT_EQ(m.winner, forbidden ? Winner::forbidden : Winner::software) << m.size << m.problem;
    }
  }
}

TEST(MeasureAlgorithm, PartialDataUnitsAreMeasuredWhereStealingIsProved) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  const auto result =
      measure(plan_for("AES-256-XTS", {1420}, {{}, true}), transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::software) << result.encrypt[0].problem;
}

TEST(MeasureAlgorithm, ADataUnitAboveARequestOfTheKernelIsForbidden) {
  FakeTransport transport("fake");
  transport.max_request = 4096;
  const auto result = measure(plan_for("AES-128-XTS", {4096, 8192}), transport, ignore_progress);
  EXPECT_NE(result.encrypt[0].winner, Winner::forbidden);
  EXPECT_EQ(result.encrypt[1].winner, Winner::forbidden);
}

TEST(MeasureAlgorithm, GcmMessagesAreMeasuredInBothDirections) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  const auto result = measure(plan_for("AES-128-GCM", {10, 16, 1420}), transport, ignore_progress);
  for (const auto* direction : {&result.encrypt, &result.decrypt}) {
    ASSERT_EQ(direction->size(), 3u);
    EXPECT_EQ((*direction)[0].winner, Winner::forbidden);
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      const auto& m = (*direction)[i];
      EXPECT_EQ(m.winner, Winner::software) << m.size << m.problem;
      EXPECT_GE(m.hardware.wall_ns, 500'000u * m.hardware.operations);
    }
  }
}

TEST(MeasureAlgorithm, AFailingGcmDriverIsAFailedMeasurement) {
  FakeTransport transport("fake");
  transport.behaviour = bad_lengths([](std::size_t) { return true; }, Behaviour::failing);
  const auto result = measure(plan_for("AES-256-GCM", {1024}), transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::failed);
  EXPECT_EQ(result.decrypt[0].winner, Winner::failed);
}

TEST(MeasureAlgorithm, HmacHasMessagesAndNoDirection) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  const std::size_t too_long = (std::size_t{1} << 20) + 1;
  const auto result =
      measure(plan_for("HMAC-SHA256", {1, 1420, too_long}), transport, ignore_progress);
  EXPECT_TRUE(result.decrypt.empty());
  ASSERT_EQ(result.encrypt.size(), 3u);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const auto& m = result.encrypt[i];
    EXPECT_EQ(m.winner, Winner::software) << m.problem;
    EXPECT_GE(m.hardware.wall_ns, 500'000u * m.hardware.operations);
  }
  EXPECT_EQ(result.encrypt[2].winner, Winner::forbidden);
}

TEST(MeasureAlgorithm, AnHmacThatFellBackToSoftwareIsAFailedMeasurement) {
  FakeTransport transport("fake");
  transport.mac_behaviour = [](auto, auto) { return Behaviour::failing; };
  const auto result = measure(plan_for("HMAC-MD5", {64}), transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::failed);
}

TEST(MeasureAlgorithm, DesIsMeasuredWithOneTwoAndThreeKeys) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  for (const char* algorithm : {"DES-CBC", "DES-EDE-CBC", "DES-EDE3-ECB"}) {
    if (needs_legacy(algorithm_table[find_algorithm(algorithm)]) && !legacy_is_installed())
      continue;
    const auto result = measure(plan_for(algorithm, {16, 24}), transport, ignore_progress);
    for (const auto& m : result.decrypt) EXPECT_EQ(m.winner, Winner::software) << m.problem;
  }
}

TEST(MeasureAlgorithm, SeveralCallersCountTogether) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  for (const char* algorithm : {"AES-128-CBC", "AES-128-GCM", "HMAC-SHA256"}) {
    auto plan = plan_for(algorithm, {64, 1024});
    plan.threads = 3;
    const auto result = measure(plan, transport, ignore_progress);
    for (const auto& m : result.encrypt) {
      EXPECT_EQ(m.problem, "") << algorithm;
      EXPECT_EQ(m.software.operations % 3, 0u);
      EXPECT_GE(m.software.operations, 24u);
      EXPECT_GE(m.hardware.operations, 6u);
    }
  }
}

TEST(MeasureAlgorithm, OneFallbackOfOneCallerIsAFailedMeasurement) {
  FakeTransport transport("fake");
  std::atomic<int> requests = 0;
  transport.behaviour = [&](const kernel::CipherRequest&) {
    return ++requests == 7 ? Behaviour::failing : Behaviour::right;
  };
  auto plan = plan_for("AES-128-CBC", {64});
  plan.threads = 3;
  const auto result = measure(plan, transport, ignore_progress);
  EXPECT_EQ(result.encrypt[0].winner, Winner::failed);
  EXPECT_EQ(result.encrypt[0].problem, "the driver failed a request");
}

TEST(MeasureAlgorithm, AHangFailsTheRestAndDoesNotHangTheCaller) {
  FakeTransport transport("fake");
  transport.latency = microseconds(500);
  transport.behaviour = bad_lengths([](std::size_t n) { return n == 64; }, Behaviour::hanging);
  const auto result = measure(plan_for("AES-128-ECB", {16, 64, 128}), transport, ignore_progress,
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
