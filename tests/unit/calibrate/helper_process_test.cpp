#include "calibrate/helper_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace kaccel::calibrate {
namespace {

using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

HelperResult run_job(const std::function<void(const SayLine&)>& job, Lines& lines,
                     const HelperLimits& limits = {}) {
  return run_in_helper(
      job, [&](std::string_view line) { lines.emplace_back(line); }, limits);
}

TEST(HelperProcess, BringsEveryLineOfAJobThatReturns) {
  Lines lines;
  const auto result = run_job(
      [](const SayLine& say) {
        say("one");
        say("two");
      },
      lines);
  EXPECT_EQ(result.end, HelperEnd::finished);
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(HelperProcess, KeepsLinesApartHoweverMuchIsSaid) {
  Lines lines;
  const auto result = run_job(
      [](const SayLine& say) {
        for (int i = 0; i < 5000; ++i) say(std::string(100, 'x') + std::to_string(i));
      },
      lines);
  EXPECT_EQ(result.end, HelperEnd::finished);
  ASSERT_EQ(lines.size(), 5000u);
  EXPECT_EQ(lines.back(), std::string(100, 'x') + "4999");
}

TEST(HelperProcess, TellsWhatAJobThrew) {
  Lines lines;
  const auto result =
      run_job([](const SayLine&) { throw std::runtime_error("no such thing"); }, lines);
  EXPECT_EQ(result.end, HelperEnd::threw);
  EXPECT_EQ(result.detail, "no such thing");
  EXPECT_TRUE(lines.empty());
}

TEST(HelperProcess, TellsTheSignalThatEndedAJob) {
  Lines lines;
  const auto result = run_job(
      [](const SayLine& say) {
        say("before");
        raise(SIGKILL);
      },
      lines);
  EXPECT_EQ(result.end, HelperEnd::died);
  EXPECT_NE(result.detail.find("9"), std::string::npos);
  EXPECT_EQ(lines, Lines{"before"});
}

TEST(HelperProcess, EndsAJobThatSleepsForEver) {
  Lines lines;
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_job(
      [](const SayLine& say) {
        say("before");
        for (;;) pause();
      },
      lines, {milliseconds(1000), milliseconds(600'000)});
  EXPECT_EQ(result.end, HelperEnd::timed_out);
  EXPECT_EQ(lines, Lines{"before"});
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            milliseconds(300'000));  // not by the second limit
}

TEST(HelperProcess, EndsAJobThatTalksForEver) {
  Lines lines;
  const auto result = run_job(
      [](const SayLine& say) {
        for (;;) {
          say("still here");
          usleep(1000);
        }
      },
      lines, {milliseconds(5000), milliseconds(200)});
  EXPECT_EQ(result.end, HelperEnd::timed_out);
}

TEST(HelperProcess, DoesNotKeepTheCallersOutputOpen) {
  Lines lines;
  run_job(
      [](const SayLine& say) {
        for (const int stream : {0, 1, 2}) {
          char target[64] = {};
          const std::string link = "/proc/self/fd/" + std::to_string(stream);
          if (readlink(link.c_str(), target, sizeof target - 1) > 0) say(target);
        }
      },
      lines);
  EXPECT_EQ(lines, (Lines{"/dev/null", "/dev/null", "/dev/null"}));
}

TEST(HelperProcess, DoesNotRunTheParentsExitHandlers) {
  Lines lines;
  const auto result = run_job(
      [](const SayLine& say) {
        static const SayLine* voice = &say;
        std::atexit([] { (*voice)("exit handler"); });
      },
      lines);
  EXPECT_EQ(result.end, HelperEnd::finished);
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace kaccel::calibrate
