#include <gtest/gtest.h>

#include <string>

#include "kernel-bridge/discovery.hpp"

namespace kaccel::kernel {
namespace {

constexpr auto no_flags = std::nullopt;

ProcCryptoEntry entry(const char* driver, bool async = true, bool internal = false) {
  ProcCryptoEntry made;
  made.name = "cbc(aes)";
  made.driver = driver;
  made.type = "skcipher";
  made.async = async;
  made.internal = internal;
  return made;
}

Hardness judged(const ProcCryptoEntry& e, std::optional<std::uint32_t> flags) {
  const auto verdict = judge(e, flags);
  EXPECT_NE(verdict.reason, nullptr);
  EXPECT_STRNE(verdict.reason, "");
  return verdict.hardness;
}

TEST(Judge, TakesTheFlagKernDriverOnlyForHardware) {
  const auto synchronous = entry("cbc-aes-somechip", false);
  EXPECT_EQ(judged(synchronous, crypto_flag::kern_driver_only), Hardness::hardware);
  EXPECT_EQ(judged(synchronous, 0), Hardness::software);
  EXPECT_STREQ(judge(synchronous, crypto_flag::kern_driver_only).reason, "flag KERN_DRIVER_ONLY");
}

TEST(Judge, TakesAnAsynchronousDriverOfAnUnknownDeviceForHardware) {
  EXPECT_EQ(judged(entry("safexcel-cbc-aes"), no_flags), Hardness::hardware);
  EXPECT_EQ(judged(entry("safexcel-cbc-aes", false), crypto_flag::async), Hardness::hardware);
}

TEST(Judge, TakesASynchronousDriverWithoutAFlagForSoftware) {
  EXPECT_EQ(judged(entry("cbc-aes-s390", false), no_flags), Hardness::software);
  EXPECT_EQ(judged(entry("cbc-des3_ede-asm", false), 0), Hardness::software);
}

TEST(Judge, TakesAsynchronousVectorCodeForSoftware) {
  for (const char* driver : {"cbc-aes-aesni", "xts-aes-aesni-avx", "ctr-aes-vaes-avx10_512",
                             "cbc-aes-ce", "ctr-aes-neonbs", "xts-aes-neon", "p8_aes_cbc"}) {
    EXPECT_EQ(judged(entry(driver), no_flags), Hardness::software) << driver;
    EXPECT_EQ(judged(entry(driver), crypto_flag::async), Hardness::software) << driver;
  }
}

TEST(Judge, DoesNotTakeAllwinnersCeForArmsCe) {
  EXPECT_EQ(judged(entry("cbc-aes-sun8i-ce"), no_flags), Hardness::hardware);
  EXPECT_EQ(judged(entry("cbc-aes-sun8i-ce"), crypto_flag::async), Hardness::hardware);
  EXPECT_EQ(judged(entry("cbc-aes-ccree"), no_flags), Hardness::hardware);
}

TEST(Judge, KnowsDevicesThatLackTheFlag) {
  for (const char* driver :
       {"cbc-aes-padlock", "sha256-padlock-nano", "ecb-aes-geode", "cbc-aes-sun4i-ss",
        "ecb-aes-sun8i-ss", "cbc-aes-rk", "hmac-sha256-caam", "hmac-sha256-caam-qi2", "cbc-aes-dcp",
        "sahara-cbc-aes", "virtio_crypto_aes_cbc"}) {
    EXPECT_EQ(judged(entry(driver, false), no_flags), Hardness::hardware) << driver;
    EXPECT_EQ(judged(entry(driver, false), 0), Hardness::hardware) << driver;
  }
}

TEST(Judge, LeavesOutWrappers) {
  for (const char* driver : {"cryptd(cbc-aes-aesni)", "cryptd(__cbc-aes-aesni)",
                             "cryptd(cbc-aes-qce)", "mcryptd(__sha1-mb)", "pcrypt(x)"}) {
    EXPECT_EQ(judged(entry(driver), no_flags), Hardness::not_a_driver) << driver;
    EXPECT_EQ(judged(entry(driver), crypto_flag::async | crypto_flag::instance),
              Hardness::not_a_driver)
        << driver;
  }
}

TEST(Judge, LeavesOutInternalHelpers) {
  EXPECT_EQ(judged(entry("__cbc-aes-aesni", false), no_flags), Hardness::not_a_driver);
  EXPECT_EQ(judged(entry("helper", true, true), no_flags), Hardness::not_a_driver);
  EXPECT_EQ(judged(entry("helper"), crypto_flag::internal | crypto_flag::kern_driver_only),
            Hardness::not_a_driver);
}

TEST(Judge, LeavesOutTemplateInstancesOverHardware) {
  for (const char* driver :
       {"gcm_base(ctr-aes-qce,ghash-generic)", "rfc3686(ctr-aes-qce)", "seqiv(rfc4106-gcm-x)",
        "authenc(hmac-sha1-qce,cbc-aes-qce)", "cbc(ecb(aes-generic))", "cts(cbc(aes-eip93))",
        "hmac(sha256-padlock-nano)", "xts(ecb-aes-padlock)", "ctr(aes-padlock)"}) {
    EXPECT_EQ(judged(entry(driver), no_flags), Hardness::not_a_driver) << driver;
    EXPECT_EQ(judged(entry(driver), crypto_flag::async | crypto_flag::instance),
              Hardness::not_a_driver)
        << driver;
  }
}

TEST(Judge, KnowsEip93sOwnNamesFromTemplates) {
  for (const char* driver :
       {"cbc(aes-eip93)", "ecb(des3_ede-eip93)", "ebc(des-eip93)", "hmac(sha1-eip93)"}) {
    EXPECT_EQ(judged(entry(driver), no_flags), Hardness::hardware) << driver;
    EXPECT_EQ(judged(entry(driver), crypto_flag::async | crypto_flag::kern_driver_only),
              Hardness::hardware)
        << driver;
  }
}

TEST(Judge, KnowsOwnNamesWithBracketsByTheirFlags) {
  EXPECT_EQ(judged(entry("n5_cbc(aes)"), crypto_flag::async), Hardness::hardware);
  EXPECT_EQ(judged(entry("cbc(aes)-ixp4xx"), no_flags), Hardness::hardware);
}

TEST(Judge, StandsAnEmptyName) {
  EXPECT_EQ(judged(entry("", false), no_flags), Hardness::software);
}

}  // namespace
}  // namespace kaccel::kernel
