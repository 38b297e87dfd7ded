#include "calibrate/replay.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "calibrate/command_error.hpp"

namespace kaccel::calibrate {
namespace {

const std::string data = KACCEL_TEST_DATA;

std::string output_of(const std::string& file) {
  std::ostringstream out;
  EXPECT_EQ(replay({data + "/" + file, false}, out), 0);
  return out.str();
}

TEST(Replay, ReproducesThePublishedTcryptThresholds) {
  EXPECT_EQ(output_of("published/qce-tcrypt-cbc-aes.csv"), "AES-128-CBC 768\nAES-256-CBC 512\n");
}

TEST(Replay, ReproducesThePublishedSpeedThresholds) {
  EXPECT_EQ(output_of("published/qce-openssl-speed.csv"),
            "AES-128-CBC 768\nAES-128-CTR 768\nAES-128-ECB -1\n"
            "AES-256-CBC 512\nAES-256-CTR -1\nAES-256-ECB 768\n");
}

TEST(Replay, JsonHasTheRecordingsToo) {
  std::ostringstream out;
  replay({data + "/published/qce-tcrypt-cbc-aes.csv", true}, out);
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["algorithms"][0]["algorithm"], "AES-128-CBC");
  EXPECT_EQ(json["algorithms"][0]["threshold"], 768);
  EXPECT_EQ(json["algorithms"][0]["sizes"].size(), 9u);
}

TEST(Replay, AcceptsWindowsLineEndsABomBlanksAndAnyColumnOrder) {
  const auto result = replay_text(
      "\xef\xbb\xbfhardware, software,size,algorithm,remark\r\n"
      "\r\n# a comment\r\n"
      "10, 20 ,16,X,\r\n"
      "3e1,20,64,X,fast",
      "f.csv");
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].threshold, 16);
}

TEST(Replay, ATieCountsForSoftware) {
  const auto result =
      replay_text("algorithm,size,software,hardware\nX,16,5,5\nX,32,5,5.01\n", "f.csv");
  EXPECT_EQ(result[0].threshold, 16);
}

struct BrokenFile {
  const char* name;
  const char* message;  // a part of it
};

class ReplayOfABrokenFile : public ::testing::TestWithParam<BrokenFile> {};

TEST_P(ReplayOfABrokenFile, SaysFileLineAndFaultInOneLineAndPrintsNothing) {
  std::ostringstream out;
  try {
    replay({data + "/" + GetParam().name, false}, out);
    FAIL() << "was accepted";
  } catch (const CommandError& error) {
    const std::string line = error.what();
    EXPECT_EQ(error.status(), exit_bad_input);
    EXPECT_NE(line.find(GetParam().message), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    EXPECT_EQ(printable(line, line.size()), line);
  }
  EXPECT_EQ(out.str(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Files, ReplayOfABrokenFile,
    ::testing::Values(BrokenFile{"replay/missing-column.csv", "no column \"hardware\""},
                      BrokenFile{"replay/speed-not-a-number.csv", "not-a-number.csv:2: a speed"},
                      BrokenFile{"replay/speed-nan.csv", "hardware is \"nan\""},
                      BrokenFile{"replay/speed-negative.csv", "hardware is \"-5\""},
                      BrokenFile{"replay/size-not-whole.csv", "size is \"16.5\""},
                      BrokenFile{"replay/size-zero.csv", "size is \"0\""},
                      BrokenFile{"replay/duplicate-size.csv", "duplicate-size.csv:4"},
                      BrokenFile{"replay/unsorted-sizes.csv", "size 16 of AES-128-CBC after"},
                      BrokenFile{"replay/cut-off-line.csv", "cut-off-line.csv:3"},
                      BrokenFile{"replay/no-name.csv", "algorithm is \"\""},
                      BrokenFile{"replay/column-twice.csv", "two columns are called"},
                      BrokenFile{"replay/header-only.csv", "no measurement"},
                      BrokenFile{"replay/comments-only.csv", "the file is empty"},
                      BrokenFile{"replay/empty.csv", "the file is empty"},
                      BrokenFile{"replay/binary.csv", "no column"},
                      BrokenFile{"replay/not-there.csv", "No such file"},
                      BrokenFile{"replay", "Is a directory"},
                      BrokenFile{"published/eip93-tcrypt-aes-128-cbc.csv",
                                 "replay needs the columns algorithm,size,software,hardware"}),
    [](const auto& test) {
      std::string name = test.param.name;
      for (char& c : name) {
        if (isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      return name;
    });

}  // namespace
}  // namespace kaccel::calibrate
