#include "calibrate/served_algorithms.hpp"

#include <gtest/gtest.h>

#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Algorithm;

TEST(ServedAlgorithms, ACounterModeDriverServesGcmToo) {
  EXPECT_EQ(describe_served(make_driver("ctr-other", Algorithm::ctr_aes)),
            "AES-128/192/256-CTR, AES-128/192/256-GCM");
}

TEST(ServedAlgorithms, KnownRefusalsOfKeysAreRespected) {
  EXPECT_EQ(describe_served(make_driver("ctr-aes-qce", Algorithm::ctr_aes)),
            "AES-128/256-CTR, AES-128/256-GCM");
  EXPECT_EQ(describe_served(make_driver("cbc-3des-qce", Algorithm::cbc_des3_ede)), "DES-EDE3-CBC");
  EXPECT_EQ(describe_served(make_driver("cbc(des3_ede-eip93)", Algorithm::cbc_des3_ede)),
            "DES-EDE-CBC, DES-EDE3-CBC");
}

TEST(ServedAlgorithms, TheKernelsKeySizesAreRespected) {
  auto driver = make_driver("cbc(aes-eip93)", Algorithm::cbc_aes);
  driver.entry.min_key_size = 16;
  driver.entry.max_key_size = 16;
  EXPECT_EQ(describe_served(driver), "AES-128-CBC");
}

TEST(ServedAlgorithms, EveryRowIsServedByADriverOfItsAlgorithm) {
  for (const auto& row : algorithm_table) {
    const auto driver = make_driver("other", row.kernel_algorithm);
    EXPECT_EQ(why_not_served(driver, row), "") << row.name;
    EXPECT_NE(describe_served(driver), "") << row.name;
  }
}

TEST(ServedAlgorithms, GcmIsCounterModeForItsDriver) {
  for (const auto& row : algorithm_table) {
    const auto& side = driver_side(row);
    EXPECT_NE(side.kind, Kind::gcm) << row.name;
    EXPECT_EQ(side.key_size, row.key_size) << row.name;
    EXPECT_EQ(side.kernel_algorithm, row.kernel_algorithm) << row.name;
  }
}

}  // namespace
}  // namespace kaccel::calibrate
