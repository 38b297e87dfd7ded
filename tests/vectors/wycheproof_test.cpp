// Project Wycheproof's AES-CBC with PKCS #5 padding, right and wrong, through kaccel.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "expected_route.hpp"
#include "known_answers.hpp"
#include "passage.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {
namespace {

std::filesystem::path wycheproof_file() {
  const char* chosen = std::getenv("KACCEL_WYCHEPROOF_DIR");
  const std::filesystem::path directory = chosen != nullptr ? chosen : KACCEL_WYCHEPROOF_DIR;
  return directory / "aes_cbc_pkcs5_test.json";
}

class Wycheproof : public ::testing::TestWithParam<Threshold> {};

TEST_P(Wycheproof, right_padding_is_removed_and_wrong_padding_refused) {
  const std::filesystem::path path = wycheproof_file();
  std::ifstream stream(path);
  if (!stream) {
    GTEST_SKIP() << path.string()
                 << " is not there: get it from github.com/C2SP/wycheproof and name its directory "
                    "in KACCEL_WYCHEPROOF_DIR";
  }
  const nlohmann::json file = nlohmann::json::parse(stream);
  std::size_t valid = 0;
  std::size_t invalid = 0;
  std::uint64_t hardware_calls = 0;
  for (const auto& group : file.at("testGroups")) {
    const int key_bits = group.at("keySize");
    const std::string algorithm = "AES-" + std::to_string(key_bits) + "-CBC";
    const kaccel::testing::KaccelUnderTest kaccel(
        kaccel::testing::settings_with_thresholds(GetParam(), GetParam()));
    const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), algorithm.c_str());
    ASSERT_NE(cipher, nullptr);
    for (const auto& test : group.at("tests")) {
      const auto bytes = [&test](const char* name) { return from_hex(test.at(name)); };
      const Bytes key = bytes("key"), iv = bytes("iv"), plain = bytes("msg"), secret = bytes("ct");
      const bool is_valid = test.at("result") == "valid";
      ++(is_valid ? valid : invalid);
      for (const Passage& passage : all_passages()) {
        SCOPED_TRACE("tcId " + test.at("tcId").dump() + " " + describe(passage));
        const Outcome decrypted = pass({cipher.get(), false, true, key, iv, secret}, passage);
        EXPECT_EQ(decrypted.ok, is_valid);
        EXPECT_EQ(take_error() == "", is_valid) << "an error is raised for a refusal alone";
        if (!is_valid) continue;
        EXPECT_EQ(decrypted.output, plain);
        const Outcome encrypted = pass({cipher.get(), true, true, key, iv, plain}, passage);
        EXPECT_TRUE(encrypted.ok);
        EXPECT_EQ(encrypted.output, secret);
      }
    }
    hardware_calls += kaccel.counter("hardware-calls");
    EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
    if (kaccel.fake() != nullptr) {
      EXPECT_TRUE(kaccel.fake()->violations().empty());
    }
    EXPECT_EQ(kaccel.counter("hardware-calls") > 0,
              goes_to_hardware(algorithm.c_str(), GetParam(), 32));
  }
  EXPECT_EQ(valid, 72U);
  EXPECT_EQ(invalid, 144U);
  std::printf(
      "%s: %zu valid and %zu invalid vectors, %zu passages each, %llu calls answered by "
      "hardware\n",
      path.filename().c_str(), valid, invalid, all_passages().size(),
      static_cast<unsigned long long>(hardware_calls));
}

std::string name_of(const ::testing::TestParamInfo<Threshold>& threshold) {
  return threshold.param < 0 ? "threshold_never" : "threshold_" + std::to_string(threshold.param);
}

INSTANTIATE_TEST_SUITE_P(AesCbcPkcs5, Wycheproof,
                         ::testing::Values(never_hardware, always_hardware, Threshold{16}),
                         name_of);

}  // namespace
}  // namespace kaccel::vectors
