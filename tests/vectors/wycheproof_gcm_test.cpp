// Project Wycheproof's AES-GCM through kaccel: changed tags, IVs of every length, counters that
// wrap.

#include <gtest/gtest.h>

#include <cstdio>

#include "expected_route.hpp"
#include "gcm_check.hpp"
#include "gcm_passage.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "thresholds.hpp"
#include "wycheproof.hpp"

namespace kaccel::vectors {
namespace {

class WycheproofGcm : public ::testing::TestWithParam<Threshold> {};

TEST_P(WycheproofGcm, right_tags_open_and_wrong_ones_do_not) {
  const auto path = wycheproof_file("aes_gcm_test.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
  const kaccel::testing::KaccelUnderTest kaccel(
      kaccel::testing::settings_with_thresholds(GetParam(), GetParam()));
  Tally tally;
  for (const auto& group : read_test_groups(path)) {
    const std::string algorithm = "AES-" + group.at("keySize").dump() + "-GCM";
    const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), algorithm.c_str());
    ASSERT_NE(cipher, nullptr);
    for (const auto& test : group.at("tests")) {
      SCOPED_TRACE("tcId " + test.at("tcId").dump());
      const KnownAnswer answer = answer_of(test);
      tally.count(answer);
      check_gcm_answer(kaccel, cipher.get(), algorithm.c_str(), GetParam(), answer);
    }
  }
  EXPECT_EQ(tally, (Tally{229, 87}));
  expect_clean_run(kaccel);
  std::printf(
      "%s: %zu valid and %zu invalid vectors, %zu passages each, %llu calls answered by hardware\n",
      path.filename().c_str(), tally.valid, tally.invalid, gcm_passages().size(),
      static_cast<unsigned long long>(kaccel.counter("hardware-calls")));
}

INSTANTIATE_TEST_SUITE_P(AesGcm, WycheproofGcm, ::testing::ValuesIn(tested_thresholds),
                         [](const auto& instance) { return threshold_name(instance.param); });

}  // namespace
}  // namespace kaccel::vectors
