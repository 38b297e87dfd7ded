// Project Wycheproof's AES-XTS through kaccel: data units of every length from 16 to 33 bytes and
// some longer ones.

#include <gtest/gtest.h>

#include <cstdio>

#include "expected_route.hpp"
#include "passage.hpp"
#include "provider/algorithms.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "thresholds.hpp"
#include "wycheproof.hpp"

namespace kaccel::vectors {
namespace {

constexpr std::size_t tweak_size = 16;

struct XtsCase {
  Threshold threshold;
  bool ciphertext_stealing;
};

void PrintTo(const XtsCase& c, std::ostream* out) {
  *out << threshold_name(c.threshold) << (c.ciphertext_stealing ? ", stealing" : "");
}

Settings settings_of(const XtsCase& instance) {
  Settings settings =
      kaccel::testing::settings_with_thresholds(instance.threshold, instance.threshold);
  for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
    settings.algorithms[row].ciphertext_stealing =
        instance.ciphertext_stealing && algorithm_table[row].kind == Kind::data_units;
  }
  return settings;
}

class WycheproofXts : public ::testing::TestWithParam<XtsCase> {};

TEST_P(WycheproofXts, data_units_of_any_length_come_out_right) {
  const auto& [threshold, stealing] = GetParam();
  if (stealing && kaccel::testing::on_real_kernel()) {
    GTEST_SKIP() << "a self-test has to prove the driver first";
  }
  const auto path = wycheproof_file("aes_xts_test.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
  const kaccel::testing::KaccelUnderTest kaccel(settings_of(GetParam()));
  Tally tally;
  std::size_t without_algorithm = 0;
  for (const auto& group : read_test_groups(path)) {
    const int key_bits = group.at("keySize");
    if (key_bits == 384) {  // OpenSSL has no AES-192-XTS
      without_algorithm += group.at("tests").size();
      continue;
    }
    const std::string algorithm = "AES-" + std::to_string(key_bits / 2) + "-XTS";
    const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), algorithm.c_str());
    ASSERT_NE(cipher, nullptr);
    for (const auto& test : group.at("tests")) {
      KnownAnswer answer = answer_of(test);
      ASSERT_FALSE(answer.refused);
      tally.count(answer);
      answer.iv.resize(tweak_size);  // a short one is a number, lowest byte first
      const bool due = goes_to_hardware(
          {algorithm.c_str(), threshold, answer.plaintext.size(), answer.key, stealing});
      for (const Passage& passage : uncut_passages()) {
        SCOPED_TRACE("tcId " + test.at("tcId").dump() + " " + describe(passage));
        const std::uint64_t calls_before = kaccel.counter("hardware-calls");
        const auto run = [&](bool encrypt, const Bytes& input) {
          return pass({cipher.get(), encrypt, false, answer.key, answer.iv, input}, passage);
        };
        EXPECT_EQ(run(true, answer.plaintext).output, answer.ciphertext);
        EXPECT_EQ(run(false, answer.ciphertext).output, answer.plaintext);
        EXPECT_EQ(kaccel.counter("hardware-calls") - calls_before, due ? 2U : 0U);
        EXPECT_EQ(take_error(), "");
      }
    }
  }
  EXPECT_EQ(tally, (Tally{82, 0}));
  EXPECT_EQ(without_algorithm, 41U);
  expect_clean_run(kaccel);
  std::printf("%s: %zu vectors, %zu left out, %zu passages each, %llu calls answered by hardware\n",
              path.filename().c_str(), tally.valid, without_algorithm, 2 * uncut_passages().size(),
              static_cast<unsigned long long>(kaccel.counter("hardware-calls")));
}

std::string xts_case_name(const ::testing::TestParamInfo<XtsCase>& instance) {
  const auto& [threshold, stealing] = instance.param;
  return threshold_name(threshold) + (stealing ? "_with_stealing" : "");
}

constexpr XtsCase xts_cases[] = {
    {never_hardware, false}, {always_hardware, false}, {Threshold{16}, false},
    {always_hardware, true}, {Threshold{16}, true},
};

INSTANTIATE_TEST_SUITE_P(AesXts, WycheproofXts, ::testing::ValuesIn(xts_cases), xts_case_name);

}  // namespace
}  // namespace kaccel::vectors
