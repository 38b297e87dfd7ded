// Project Wycheproof's AES-CBC with PKCS #5 padding, right and wrong, through kaccel.

#include <gtest/gtest.h>

#include <cstdio>

#include "expected_route.hpp"
#include "passage.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "thresholds.hpp"
#include "wycheproof.hpp"

namespace kaccel::vectors {
namespace {

class WycheproofCbc : public ::testing::TestWithParam<Threshold> {};

TEST_P(WycheproofCbc, right_padding_is_removed_and_wrong_padding_refused) {
  const auto path = wycheproof_file("aes_cbc_pkcs5_test.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
  Tally tally;
  std::uint64_t hardware_calls = 0;
  for (const auto& group : read_test_groups(path)) {
    const std::string algorithm = "AES-" + group.at("keySize").dump() + "-CBC";
    const kaccel::testing::KaccelUnderTest kaccel(
        kaccel::testing::settings_with_thresholds(GetParam(), GetParam()));
    const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), algorithm.c_str());
    ASSERT_NE(cipher, nullptr);
    for (const auto& test : group.at("tests")) {
      const KnownAnswer answer = answer_of(test);
      const auto& [line, key, iv, aad, plain, secret, tag, refused, bits] = answer;
      tally.count(answer);
      for (const Passage& passage : all_passages()) {
        SCOPED_TRACE("tcId " + test.at("tcId").dump() + " " + describe(passage));
        const Outcome decrypted = pass({cipher.get(), false, true, key, iv, secret}, passage);
        EXPECT_EQ(decrypted.ok, !refused);
        EXPECT_EQ(take_error() == "", !refused) << "an error is raised for a refusal alone";
        if (refused) continue;
        EXPECT_EQ(decrypted.output, plain);
        const Outcome encrypted = pass({cipher.get(), true, true, key, iv, plain}, passage);
        EXPECT_TRUE(encrypted.ok);
        EXPECT_EQ(encrypted.output, secret);
      }
    }
    hardware_calls += kaccel.counter("hardware-calls");
    expect_clean_run(kaccel);
    EXPECT_EQ(kaccel.counter("hardware-calls") > 0,
              goes_to_hardware({algorithm.c_str(), GetParam(), 32, {}}));
  }
  EXPECT_EQ(tally, (Tally{72, 144}));
  std::printf(
      "%s: %zu valid and %zu invalid vectors, %zu passages each, %llu calls answered by hardware\n",
      path.filename().c_str(), tally.valid, tally.invalid, all_passages().size(),
      static_cast<unsigned long long>(hardware_calls));
}

INSTANTIATE_TEST_SUITE_P(AesCbcPkcs5, WycheproofCbc, ::testing::ValuesIn(tested_thresholds),
                         [](const auto& instance) { return threshold_name(instance.param); });

}  // namespace
}  // namespace kaccel::vectors
