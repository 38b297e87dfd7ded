#include "calibrate/kernel_facts.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

KernelFacts kernel_of(const char* release) {
  KernelFacts facts;
  facts.release = release;
  parse_release(release, facts);
  return facts;
}

const kernel::Status not_found{kernel::Failure::no_driver, ENOENT};

TEST(KernelFacts, ReadsReleasesOfAllForms) {
  EXPECT_EQ(kernel_of("7.2.13-amd64").major, 7);
  EXPECT_EQ(kernel_of("7.2.13-amd64").minor, 2);
  EXPECT_EQ(kernel_of("6.18").minor, 18);
  EXPECT_EQ(kernel_of("7.3-rc1").minor, 3);
  EXPECT_EQ(kernel_of("odd").major, 0);
  EXPECT_EQ(kernel_of("").major, 0);
}

TEST(KernelFacts, HardwareThatANewKernelHidesIsNamedSo) {
  const auto driver = make_driver("virtio_crypto_aes_cbc", kernel::Algorithm::cbc_aes);
  EXPECT_NE(why_unusable(driver, not_found, kernel_of("7.2.13")).find("hidden"), std::string::npos);
  EXPECT_EQ(why_unusable(driver, not_found, kernel_of("6.1.0")).find("hidden"), std::string::npos);
}

TEST(KernelFacts, SoftwareThatTheAllowListLeavesOutIsNamedSo) {
  const auto driver =
      make_driver("ctr-aes-generic", kernel::Algorithm::ctr_aes, kernel::Hardness::software);
  auto facts = kernel_of("7.3.0");
  facts.af_alg_restrict = 1;
  EXPECT_NE(why_unusable(driver, not_found, facts).find("crypto.af_alg_restrict = 1"),
            std::string::npos);
}

TEST(KernelFacts, MissingAndForbiddenAfAlgAreToldApart) {
  EXPECT_NE(why_no_af_alg({kernel::Failure::no_af_alg, EAFNOSUPPORT}).find("has no AF_ALG"),
            std::string::npos);
  EXPECT_NE(why_no_af_alg({kernel::Failure::denied, EPERM}).find("denied"), std::string::npos);
}

}  // namespace
}  // namespace kaccel::calibrate
