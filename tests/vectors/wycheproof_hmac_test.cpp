// Project Wycheproof's HMACs through kaccel. The two digests that no driver has stay in software.

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "expected_route.hpp"
#include "hmac_check.hpp"
#include "hmac_passage.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "thresholds.hpp"
#include "wycheproof.hpp"

namespace kaccel::vectors {
namespace {

struct HmacFile {
  const char* name;
  const char* digest;
  Tally tally;
};

// clang-format off
constexpr HmacFile hmac_files[] = {
    {"hmac_sha1_test.json",       "SHA1",       {66, 104}},
    {"hmac_sha224_test.json",     "SHA224",     {66, 106}},
    {"hmac_sha256_test.json",     "SHA256",     {66, 108}},
    {"hmac_sha384_test.json",     "SHA384",     {66, 108}},
    {"hmac_sha512_test.json",     "SHA512",     {66, 108}},
    {"hmac_sha512_224_test.json", "SHA512-224", {66, 107}},
    {"hmac_sha512_256_test.json", "SHA512-256", {66, 109}},
};
// clang-format on

struct HmacCase {
  HmacFile file;
  Threshold threshold;
};

void PrintTo(const HmacCase& c, std::ostream* out) {
  *out << c.file.name << ", " << threshold_name(c.threshold);
}

std::vector<HmacCase> hmac_cases() {
  std::vector<HmacCase> all;
  for (const HmacFile& file : hmac_files) {
    for (const Threshold threshold : tested_thresholds) {
      all.push_back({file, threshold});
    }
  }
  return all;
}

class WycheproofHmac : public ::testing::TestWithParam<HmacCase> {};

TEST_P(WycheproofHmac, right_tags_agree_and_wrong_ones_do_not) {
  const auto& [file, threshold] = GetParam();
  const auto path = wycheproof_file(file.name);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
  const kaccel::testing::KaccelUnderTest kaccel(
      kaccel::testing::settings_with_thresholds(threshold, threshold));
  const MacPointer mac = fetch_hmac(kaccel.library());
  ASSERT_NE(mac, nullptr);
  Tally tally;
  for (const auto& group : read_test_groups(path)) {
    const std::size_t tag_bits = group.at("tagSize");
    for (const auto& test : group.at("tests")) {
      SCOPED_TRACE("tcId " + test.at("tcId").dump());
      const KnownAnswer answer = answer_of(test);
      EXPECT_EQ(8 * answer.tag.size(), tag_bits);
      tally.count(answer);
      check_hmac_answer(kaccel, mac.get(), file.digest, threshold, answer);
    }
  }
  EXPECT_EQ(tally, file.tally);
  expect_clean_run(kaccel);
  std::printf(
      "%s: %zu valid and %zu invalid vectors, %zu passages each, %llu calls answered by hardware\n",
      file.name, tally.valid, tally.invalid, hmac_passages().size(),
      static_cast<unsigned long long>(kaccel.counter("hardware-calls")));
}

std::string hmac_case_name(const ::testing::TestParamInfo<HmacCase>& instance) {
  std::string digest = instance.param.file.digest;
  std::erase(digest, '-');
  return digest + "_" + threshold_name(instance.param.threshold);
}

INSTANTIATE_TEST_SUITE_P(Hmac, WycheproofHmac, ::testing::ValuesIn(hmac_cases()), hmac_case_name);

}  // namespace
}  // namespace kaccel::vectors
