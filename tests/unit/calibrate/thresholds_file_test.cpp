#include "calibrate/thresholds_file.hpp"

#include <gtest/gtest.h>

#include "calibrate/command_error.hpp"
#include "calibrate/configuration.hpp"
#include "temporary_directory.hpp"

namespace kaccel::calibrate {
namespace {

CalibratedAlgorithm algorithm(const char* name, const char* driver, Threshold encrypt,
                              Threshold decrypt) {
  CalibratedAlgorithm result{name, driver, {}, {}, {}};
  result.encrypt.threshold = encrypt;
  result.decrypt.threshold = decrypt;
  return result;
}

Calibration example() {
  Calibration calibration{"2026-01-02T03:04:05Z", "6.1.0", {}, {}};
  calibration.algorithms.push_back(algorithm("AES-128-CBC", "cbc(aes-eip93)", 768, 0));
  auto restricted = algorithm("AES-256-CBC", "cbc-aes-qce", 512, never_hardware);
  restricted.self_test = {SelfTestVerdict::restricted,
                          {.min_size = 32, .max_size = 65536},
                          "encryption of 16 bytes is wrong",
                          false};
  calibration.algorithms.push_back(std::move(restricted));
  auto taken_out = algorithm("AES-128-CTR", "ctr-aes-qce", never_hardware, never_hardware);
  taken_out.self_test = {SelfTestVerdict::taken_out, {}, "decryption of 64 bytes is wrong", false};
  calibration.algorithms.push_back(std::move(taken_out));
  auto xts = algorithm("AES-128-XTS", "xts-aes-qce", 1024, 2048);
  xts.self_test.ciphertext_stealing = true;
  calibration.algorithms.push_back(std::move(xts));
  auto whole_blocks = algorithm("AES-256-XTS", "xts-aes-qce", 1024, 2048);
  whole_blocks.self_test.stealing_fault = "encryption of 17 bytes is wrong";
  calibration.algorithms.push_back(std::move(whole_blocks));
  calibration.algorithms.push_back(algorithm("AES-128-GCM", "ctr-aes-qce", 2048, 4096));
  auto hmac = algorithm("HMAC-SHA256", "hmac-sha256-qce", 8192, never_hardware);
  hmac.self_test = {SelfTestVerdict::restricted,
                    {.max_size = 65537, .multiple_above = 64, .size_multiple = 64},
                    "too long",
                    false};
  calibration.algorithms.push_back(std::move(hmac));
  calibration.skipped.push_back({"AES-192-CBC", "cbc-aes-qce", "known not to take such keys"});
  return calibration;
}

// Lays the file down with an openssl.cnf made after the file's own instructions, and reads both as
// an application would.
Configuration read_back(const std::string& text) {
  const TemporaryDirectory directory;
  const auto thresholds = directory.file("kaccel-thresholds.cnf");
  write_text(thresholds, text);
  write_text(directory.file("openssl.cnf"),
             "openssl_conf = openssl_init\n"
             "[openssl_init]\nproviders = providers\n"
             "[providers]\nkaccel = kaccel_sect\n" +
                 include_instructions(thresholds, ""));
  return read_configuration(directory.file("openssl.cnf"), "");
}

TEST(ThresholdsFile, SaysToTheProviderWhatWasMeasured) {
  const auto settings = read_back(thresholds_file_text(example(), "/x")).settings;
  EXPECT_TRUE(settings.calibrated);
  const auto& eip93 = settings.algorithms[find_algorithm("AES-128-CBC")];
  EXPECT_EQ(eip93.driver, "cbc(aes-eip93)");
  EXPECT_EQ(eip93.encrypt, 768);
  EXPECT_EQ(eip93.decrypt, 0);
  const auto& qce = settings.algorithms[find_algorithm("AES-256-CBC")];
  EXPECT_EQ(qce.decrypt, never_hardware);
  EXPECT_EQ(qce.restrictions.min_size, 32u);
  EXPECT_EQ(qce.restrictions.max_size, 65536u);
}

TEST(ThresholdsFile, AnHmacHasOneThreshold) {
  const auto text = thresholds_file_text(example(), "/x");
  EXPECT_NE(text.find("HMAC-SHA256.threshold = 8192\nHMAC-SHA256.max_size = "
                      "65537\nHMAC-SHA256.size_multiple = 64\n"
                      "HMAC-SHA256.driver = hmac-sha256-qce\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("HMAC-SHA256.encrypt"), std::string::npos);
  EXPECT_EQ(text.find("HMAC-SHA256.decrypt"), std::string::npos);
  const auto settings = read_back(text).settings;
  const auto& row = settings.algorithms[find_algorithm("HMAC-SHA256")];
  EXPECT_EQ(row.encrypt, 8192);
  EXPECT_EQ(row.restrictions.max_size, 65537u);
  EXPECT_EQ(row.restrictions.size_multiple, 64u);
}

TEST(ThresholdsFile, SaysWhatBothSidesTakeWhereHardwareFirstWins) {
  auto calibration = example();
  SizeMeasurement software_wins;
  software_wins.size = 512;
  software_wins.winner = Winner::software;
  software_wins.software = {8'000, 8'000, 8};
  software_wins.hardware = {80'000, 8'000, 2};
  SizeMeasurement hardware_wins;
  hardware_wins.size = 1024;
  hardware_wins.winner = Winner::hardware;
  hardware_wins.software = {16'000, 15'200, 8};
  hardware_wins.hardware = {4'000, 1'200, 4};
  calibration.algorithms[0].encrypt.measurements = {software_wins, hardware_wins};
  calibration.algorithms[0].encrypt.doubt = "doubtful";
  const auto text = thresholds_file_text(calibration, "/x");
  EXPECT_NE(text.find("# encrypt: hardware first faster at 1024 bytes: 1.00 us (CPU 300 ns) "
                      "against 2.00 us (CPU 1.90 us)\n"
                      "# encrypt: doubtful\n"
                      "# decrypt: hardware never wins\n"),
            std::string::npos)
      << text;
}

TEST(ThresholdsFile, SaysHowItWasMeasured) {
  auto calibration = example();
  EXPECT_NE(thresholds_file_text(calibration, "/x")
                .find("\n# Measured with --prefer speed and --threads 1.\n"),
            std::string::npos);
  calibration.preference = {25};
  calibration.threads = 4;
  SizeMeasurement preferred;
  preferred.size = 512;
  preferred.winner = Winner::hardware;
  preferred.software = {8'000, 8'000, 8};
  preferred.hardware = {9'600, 2'400, 8};
  calibration.algorithms[0].encrypt.measurements = {preferred};
  const auto text = thresholds_file_text(calibration, "/x");
  EXPECT_NE(text.find("\n# Measured with --prefer offload=25 and --threads 4.\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("# encrypt: hardware first preferred at 512 bytes: 1.20 us (CPU 300 ns) "
                      "against 1.00 us (CPU 1.00 us)\n"),
            std::string::npos)
      << text;
}

TEST(ThresholdsFile, SaysWhereCiphertextStealingIsProved) {
  const auto text = thresholds_file_text(example(), "/x");
  EXPECT_NE(text.find("AES-128-XTS.ciphertext_stealing = yes\nAES-128-XTS.driver = "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("# data units that are not whole blocks stay in software: encryption of 17"),
            std::string::npos);
  const auto settings = read_back(text).settings;
  EXPECT_TRUE(settings.algorithms[find_algorithm("AES-128-XTS")].ciphertext_stealing);
  EXPECT_FALSE(settings.algorithms[find_algorithm("AES-256-XTS")].ciphertext_stealing);
}

TEST(ThresholdsFile, EveryRowIsReadBackAsItWasWritten) {
  Calibration calibration{"2026-01-02T03:04:05Z", "6.1.0", {}, {}};
  for (const auto& one : algorithm_table) {
    calibration.algorithms.push_back(algorithm(one.name, "some-driver", 256, 256));
  }
  const auto settings = read_back(thresholds_file_text(calibration, "/x")).settings;
  for (const auto& row : settings.algorithms) {
    EXPECT_EQ(row.driver, "some-driver");
    EXPECT_EQ(row.encrypt, 256);
    EXPECT_EQ(row.decrypt, 256);
  }
}

TEST(ThresholdsFile, KeepsATakenOutDriverOff) {
  const auto settings = read_back(thresholds_file_text(example(), "/x")).settings;
  const auto& row = settings.algorithms[find_algorithm("AES-128-CTR")];
  EXPECT_EQ(row.encrypt, never_hardware);
  EXPECT_EQ(row.decrypt, never_hardware);
}

TEST(ThresholdsFile, CutOffAnywhereItIsRefusedOrSaysNothingWrong) {
  const auto whole = thresholds_file_text(example(), "/x");
  const auto right = read_back(whole).settings;
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      const auto settings = read_back(whole.substr(0, size)).settings;
      for (std::size_t i = 0; i < settings.algorithms.size(); ++i) {
        const auto& row = settings.algorithms[i];
        if (row.driver.empty()) continue;
        // A shorter driver name binds to nothing; a wrong threshold would do harm.
        EXPECT_EQ(row.encrypt, right.algorithms[i].encrypt) << size;
        EXPECT_EQ(row.decrypt, right.algorithms[i].decrypt) << size;
        EXPECT_EQ(row.restrictions, right.algorithms[i].restrictions) << size;
        EXPECT_EQ(row.ciphertext_stealing, right.algorithms[i].ciphertext_stealing) << size;
      }
    } catch (const CommandError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace kaccel::calibrate
