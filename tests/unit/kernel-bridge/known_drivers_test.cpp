#include "kernel-bridge/known_drivers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace kaccel::kernel {
namespace {

using Name = std::string_view;

const KnownDriver& row(Name driver) {
  const auto* known = find_known_driver(driver);
  if (known == nullptr) throw std::runtime_error("no row for " + std::string(driver));
  return *known;
}

TEST(KnownDrivers, HaveAFamilyAndASourceInEveryRow) {
  for (const auto& known : known_drivers()) {
    EXPECT_STRNE(known.family, "") << known.driver;
    EXPECT_STRNE(known.source, "") << known.driver;
    EXPECT_NE(known.quirks, nullptr) << known.driver;
  }
}

TEST(KnownDrivers, HaveNamesThatFitIntoASocketAddress) {
  for (const auto& known : known_drivers()) EXPECT_LE(Name(known.driver).size(), 63u);
}

TEST(KnownDrivers, TellWhatTheirSizeRulesAvoid) {
  for (const auto& known : known_drivers()) {
    const Restrictions& rules = known.restrictions;
    // Nobody asks for no bytes, and few for a megabyte.
    const int size_rules = (rules.min_size > 1 ? 1 : 0) + (rules.size_multiple != 0 ? 1 : 0) +
                           (rules.max_size < 500'000 ? 1 : 0);
    int told = 0;
    for (const char* phrase : known.avoided) told += phrase != nullptr ? 1 : 0;
    EXPECT_EQ(told, size_rules) << known.driver;
  }
}

TEST(KnownDrivers, SplitOnlyAtBlocks) {
  for (const auto& known : known_drivers()) {
    if (known.restrictions.max_size == Restrictions{}.max_size) continue;
    EXPECT_EQ(known.restrictions.max_size % info(known.algorithm).block_size, 0u) << known.driver;
  }
}

TEST(KnownDrivers, AreFoundByTheirExactNameOnly) {
  EXPECT_EQ(row("cbc-aes-qce").algorithm, Algorithm::cbc_aes);
  EXPECT_EQ(row("hmac(sha224-eip93)").algorithm, Algorithm::hmac_sha224);
  EXPECT_EQ(find_known_driver(""), nullptr);
  EXPECT_EQ(find_known_driver("cbc-aes-qce2"), nullptr);
  EXPECT_EQ(find_known_driver("CBC-AES-QCE"), nullptr);
  EXPECT_EQ(find_known_driver("cts(cbc(aes-eip93))"), nullptr);
}

TEST(KnownDrivers, KeepTwentyFourByteKeysAwayFromQceAes) {
  for (const Name name : {"cbc-aes-qce", "ctr-aes-qce", "ecb-aes-qce"}) {
    EXPECT_FALSE(permits_key(row(name).restrictions, 24)) << name;
    EXPECT_TRUE(permits_key(row(name).restrictions, 16)) << name;
    EXPECT_TRUE(permits_key(row(name).restrictions, 32)) << name;
  }
  EXPECT_FALSE(permits_key(row("xts-aes-qce").restrictions, 48));
  EXPECT_TRUE(permits_key(row("xts-aes-qce").restrictions, 32));
  EXPECT_TRUE(permits_key(row("xts-aes-qce").restrictions, 64));
  // 24 bytes is what a 3DES key has.
  EXPECT_TRUE(permits_key(row("cbc-3des-qce").restrictions, 24));
}

TEST(KnownDrivers, KeepSingleBlocksAwayFromQceAes) {
  EXPECT_FALSE(permits_size(row("ctr-aes-qce").restrictions, 16));
  EXPECT_TRUE(permits_size(row("ctr-aes-qce").restrictions, 32));
}

TEST(KnownDrivers, KeepBrokenSectorsAwayFromQceXts) {
  const auto& xts = row("xts-aes-qce").restrictions;
  EXPECT_TRUE(permits_size(xts, 496));
  EXPECT_TRUE(permits_size(xts, 512));
  EXPECT_FALSE(permits_size(xts, 528));
  EXPECT_TRUE(permits_size(xts, 1024));
  EXPECT_FALSE(permits_size(xts, 1040));
  EXPECT_TRUE(permits_size(row("cbc-aes-qce").restrictions, 528));
}

TEST(KnownDrivers, KeepRepeatedKeysAwayFromQceTripleDes) {
  EXPECT_TRUE(row("ecb-3des-qce").restrictions.refuses_repeated_des_keys);
  EXPECT_TRUE(row("cbc-3des-qce").restrictions.refuses_repeated_des_keys);
  EXPECT_FALSE(row("cbc-des-qce").restrictions.refuses_repeated_des_keys);
  EXPECT_FALSE(row("cbc(des3_ede-eip93)").restrictions.refuses_repeated_des_keys);
}

TEST(KnownDrivers, KeepEmptyMessagesAwayFromQceHmac) {
  EXPECT_FALSE(permits_size(row("hmac-sha256-qce").restrictions, 0));
  EXPECT_TRUE(permits_size(row("hmac-sha256-qce").restrictions, 1));
}

TEST(KnownDrivers, KeepEip93RequestsBelowItsLengthField) {
  for (const auto& known : known_drivers()) {
    if (Name(known.family) == "eip93") {
      EXPECT_LT(known.restrictions.max_size, 1u << 20) << known.driver;
    }
  }
}

TEST(KnownDrivers, CarryThePublishedThresholds) {
  EXPECT_EQ(row("cbc-aes-qce").published_threshold, 512);
  EXPECT_EQ(row("cbc-des-qce").published_threshold, -1);
  EXPECT_EQ(row("cbc(aes-eip93)").published_threshold, 512);
  EXPECT_EQ(row("cbc(des-eip93)").published_threshold, 256);
  EXPECT_EQ(row("ecb(des3_ede-eip93)").published_threshold, 64);
  EXPECT_EQ(row("hmac(sha256-eip93)").published_threshold, -1);
  EXPECT_EQ(row("cbc-aes-padlock").published_threshold, -1);
  EXPECT_EQ(row("virtio_crypto_aes_cbc").published_threshold, -1);
}

TEST(KnownDrivers, IncludeTheMisspeltNameOfEip93sEcbDes) {
  const auto& misspelt = row("ebc(des-eip93)");
  EXPECT_EQ(misspelt.algorithm, Algorithm::ecb_des);
  EXPECT_EQ(misspelt.restrictions, row("ecb(des-eip93)").restrictions);
}

}  // namespace
}  // namespace kaccel::kernel
