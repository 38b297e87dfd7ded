#include "calibrate/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "calibrate/text_table.hpp"
#include "calibrate/units.hpp"

namespace kaccel::calibrate {
namespace {

TEST(Units, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration(0), "0 ns");
  EXPECT_EQ(duration(812.4), "812 ns");
  EXPECT_EQ(duration(999.6), "1.00 us");
  EXPECT_EQ(duration(3412), "3.41 us");
  EXPECT_EQ(duration(58'120), "58.1 us");
  EXPECT_EQ(duration(1'200'000), "1.20 ms");
  EXPECT_EQ(duration(2.5e9), "2.50 s");
}

TEST(SpeedBar, PointsToTheFasterSideAndHasAFixedWidth) {
  EXPECT_EQ(speed_bar(100, 100), "      |      ");
  EXPECT_EQ(speed_bar(100, 105), "     <|      ");
  EXPECT_EQ(speed_bar(105, 100), "      |>     ");
  EXPECT_EQ(speed_bar(200, 100), "      |>>>   ");
  EXPECT_EQ(speed_bar(1, 1e9), "<<<<<<|      ");
}

TEST(TextTable, LinesUpAndEndsNoLineInBlanks) {
  TextTable table({{"A"}, {"N", TextTable::Align::right}, {"LAST"}});
  table.add({"long", "7", ""});
  table.add({"s", "1234", "x"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(),
            "A        N  LAST\n"
            "long     7\n"
            "s     1234  x\n");
}

Calibration two_kinds() {
  Calibration calibration{"2026-01-02T03:04:05Z", "6.1.0", {}, {}};
  CalibratedAlgorithm xts{"AES-128-XTS", "xts-aes-qce", {}, {}, {}};
  xts.self_test.stealing_fault = "encryption of 17 bytes is wrong";
  CalibratedAlgorithm hmac{"HMAC-SHA1", "hmac-sha1-qce", {}, {}, {}};
  hmac.encrypt.threshold = 4096;
  SizeMeasurement measurement;
  measurement.size = 8192;
  measurement.winner = Winner::hardware;
  measurement.software = {16'000, 15'200, 8};
  measurement.hardware = {4'000, 1'200, 4};
  hmac.encrypt.measurements = {measurement};
  calibration.algorithms = {xts, hmac};
  return calibration;
}

TEST(Report, AnHmacHasOneThresholdAndOneDrawing) {
  std::ostringstream out;
  print_report(two_kinds(), out);
  const auto text = out.str();
  EXPECT_NE(text.find("ALGORITHM  DRIVER         THRESHOLD  REMARK\n"
                      "HMAC-SHA1  hmac-sha1-qce       4096\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("HMAC-SHA1 on hmac-sha1-qce: hardware above 4096 bytes\n"
                      "SIZE       SW       HW   sw < | > hw    CPU SW  CPU HW\n"
                      "8192  2.00 us  1.00 us        |>>>     1.90 us  300 ns\n"),
            std::string::npos)
      << text;
}

TEST(Report, SaysWhyCiphertextStealingStaysInSoftware) {
  std::ostringstream out;
  print_report(two_kinds(), out);
  EXPECT_NE(out.str().find("no ciphertext stealing: encryption of 17 bytes is wrong\n"),
            std::string::npos)
      << out.str();
}

TEST(Report, NoTableIsWiderThan110Columns) {
  auto calibration = two_kinds();
  auto& xts = calibration.algorithms[0];
  SizeMeasurement longest;
  longest.size = 16'777'216;
  longest.winner = Winner::hardware;
  longest.software = {99'940'000, 99'940'000, 1};
  longest.hardware = {10'040'000, 10'040'000, 1};
  xts.encrypt.measurements = {longest};
  xts.decrypt.measurements = {longest};
  std::ostringstream out;
  print_report(calibration, out);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
  EXPECT_NE(out.str().find("99.9 ms"), std::string::npos) << out.str();
}

TEST(Report, SaysHowItWasMeasured) {
  auto calibration = two_kinds();
  std::ostringstream plain;
  print_report(calibration, plain);
  EXPECT_NE(
      plain.str().find(
          "Measured with --prefer speed (hardware wins where it is faster) and --threads 1.\n"),
      std::string::npos)
      << plain.str();
  calibration.preference = {25};
  calibration.threads = 4;
  std::ostringstream out;
  print_report(calibration, out);
  EXPECT_NE(out.str().find("Measured with --prefer offload=25 (hardware wins up to 25% slower if "
                           "it saves CPU time) and --threads 4.\n"),
            std::string::npos)
      << out.str();
  std::ostringstream json_out;
  print_report_json(calibration, "/x", json_out);
  const auto json = nlohmann::json::parse(json_out.str());
  EXPECT_EQ(json["prefer"], "offload=25");
  EXPECT_EQ(json["threads"], 4);
}

TEST(Report, SaysWhereSoftwareWasFasterAgain) {
  auto calibration = two_kinds();
  calibration.algorithms[0].decrypt.doubt = "doubtful";
  std::ostringstream out;
  print_report(calibration, out);
  EXPECT_NE(out.str().find("\ndecrypt: doubtful\n"), std::string::npos) << out.str();
  std::ostringstream json;
  print_report_json(calibration, "/x", json);
  EXPECT_EQ(nlohmann::json::parse(json.str())["algorithms"][0]["decrypt"]["doubt"], "doubtful");
}

TEST(Report, JsonSaysThresholdsByKind) {
  std::ostringstream out;
  print_report_json(two_kinds(), "/x", out);
  const auto json = nlohmann::json::parse(out.str());
  const auto& xts = json["algorithms"][0];
  EXPECT_EQ(xts["encrypt"]["threshold"], -1);
  EXPECT_EQ(xts["ciphertext_stealing"], false);
  EXPECT_EQ(xts["ciphertext_stealing_fault"], "encryption of 17 bytes is wrong");
  const auto& hmac = json["algorithms"][1];
  EXPECT_EQ(hmac["threshold"], 4096);
  EXPECT_EQ(hmac["sizes"][0]["hardware_ns"], 1000);
  EXPECT_EQ(hmac["sizes"][0]["hardware_cpu_ns"], 300);
  EXPECT_EQ(hmac["sizes"][0]["hardware_operations"], 4);
  EXPECT_EQ(hmac["sizes"][0]["software_cpu_ns"], 1900);
  EXPECT_FALSE(hmac.contains("doubt"));
  EXPECT_FALSE(hmac.contains("encrypt"));
  EXPECT_FALSE(hmac.contains("ciphertext_stealing"));
}

}  // namespace
}  // namespace kaccel::calibrate
