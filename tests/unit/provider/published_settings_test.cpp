#include <gtest/gtest.h>

#include <string>

#include "kernel-bridge/proc_crypto.hpp"
#include "provider/settings.hpp"

namespace kaccel {
namespace {

Settings published(const char* listing) {
  Settings settings;
  published_settings(kernel::read_text_file(std::string(KACCEL_TEST_DATA) + "/" + listing),
                     settings);
  return settings;
}

const AlgorithmSettings& row(const Settings& settings, const char* algorithm) {
  return settings.algorithms.at(find_algorithm(algorithm));
}

TEST(PublishedSettingsTest, UseTheQceOfAnIpq4018AboveItsPublishedThreshold) {
  const Settings settings = published("proc-crypto-ipq4018-qce.txt");
  for (const char* algorithm : {"AES-128-CBC", "AES-256-CBC", "AES-128-CTR", "AES-256-ECB"}) {
    EXPECT_EQ(row(settings, algorithm).encrypt, 512) << algorithm;
    EXPECT_EQ(row(settings, algorithm).decrypt, 512) << algorithm;
  }
  EXPECT_EQ(row(settings, "AES-128-CBC").driver, "cbc-aes-qce");
  EXPECT_EQ(row(settings, "AES-256-CTR").driver, "ctr-aes-qce");
  EXPECT_EQ(row(settings, "AES-128-ECB").driver, "ecb-aes-qce");
  EXPECT_FALSE(settings.calibrated);
}

TEST(PublishedSettingsTest, UseTheEip93OfAnAn7581) {
  EXPECT_EQ(row(published("proc-crypto-an7581-eip93.txt"), "AES-128-CBC").driver, "cbc(aes-eip93)");
}

TEST(PublishedSettingsTest, UseNoDriverWithoutAPublishedThreshold) {
  for (const char* listing : {"proc-crypto-via-padlock.txt", "proc-crypto-debian-6.1-virtio.txt",
                              "proc-crypto-debian-6.1-x86.txt"}) {
    for (const AlgorithmSettings& algorithm : published(listing).algorithms) {
      EXPECT_EQ(algorithm.driver, "") << listing;
    }
  }
}

TEST(PublishedSettingsTest, AreNoneWithoutAListing) {
  Settings settings;
  published_settings("", settings);
  for (const AlgorithmSettings& algorithm : settings.algorithms) EXPECT_EQ(algorithm.driver, "");
}

}  // namespace
}  // namespace kaccel
