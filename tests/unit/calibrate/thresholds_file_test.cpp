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
      }
    } catch (const CommandError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace kaccel::calibrate
