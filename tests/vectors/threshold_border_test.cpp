// The border of a threshold: each vector at the threshold one byte below its length, at its length
// and one byte above, and the side that has to answer, by the provider's counters. Public report:
// bridges that were one byte off.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "expected_route.hpp"
#include "gcm_passage.hpp"
#include "hmac_passage.hpp"
#include "known_answers.hpp"
#include "passage.hpp"
#include "python_vectors.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {
namespace {

using kaccel::testing::KaccelUnderTest;

// A file of each mode, with messages of several lengths.
// clang-format off
constexpr VectorFile vector_files[] = {
    {"ciphers/AES/ECB/ECBMMT128.rsp",                    "AES-128-ECB",  20},
    {"ciphers/AES/ECB/ECBMMT256.rsp",                    "AES-256-ECB",  20},
    {"ciphers/AES/CBC/CBCMMT128.rsp",                    "AES-128-CBC",  20},
    {"ciphers/AES/CBC/CBCMMT192.rsp",                    "AES-192-CBC",  20},
    {"ciphers/AES/CBC/CBCMMT256.rsp",                    "AES-256-CBC",  20},
    {"ciphers/AES/CTR/aes-128-ctr.txt",                  "AES-128-CTR",  3},
    {"ciphers/AES/CTR/aes-256-ctr.txt",                  "AES-256-CTR",  3},
    {"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES128.rsp", "AES-128-XTS",  800, 200},
    {"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES256.rsp", "AES-256-XTS",  600, 400},
    {"ciphers/3DES/CBC/TCBCMMT3.rsp",                    "DES-EDE3-CBC", 20},
    {"ciphers/3DES/ECB/TECBMMT2.rsp",                    "DES-EDE3-ECB", 20},
    {"ciphers/AES/GCM/gcmEncryptExtIV128.rsp",           "AES-128-GCM",  7875},
    {"ciphers/AES/GCM/gcmEncryptExtIV256.rsp",           "AES-256-GCM",  7875},
    {"HMAC/rfc-2202-md5.txt",                            "HMAC-MD5",     7},
    {"HMAC/rfc-2202-sha1.txt",                           "HMAC-SHA1",    7},
    {"HMAC/rfc-4231-sha256.txt",                         "HMAC-SHA256",  6},
    {"HMAC/rfc-4231-sha512.txt",                         "HMAC-SHA512",  6},
};
// clang-format on

// One for each threshold that was asked for: the vectors have few lengths.
class KaccelAtThresholds {
 public:
  const KaccelUnderTest& at(Threshold threshold) {
    auto& kaccel = loaded_[threshold];
    if (kaccel == nullptr) {
      kaccel = std::make_unique<KaccelUnderTest>(
          kaccel::testing::settings_with_thresholds(threshold, threshold));
    }
    return *kaccel;
  }
  void expect_clean_runs() const {
    for (const auto& [threshold, kaccel] : loaded_) expect_clean_run(*kaccel);
  }

 private:
  std::map<Threshold, std::unique_ptr<KaccelUnderTest>> loaded_;
};

class ThresholdBorder : public ::testing::TestWithParam<VectorFile> {
 protected:
  static std::string_view algorithm() { return GetParam().algorithm; }
  static bool is_gcm() { return algorithm().ends_with("GCM"); }
  static bool is_hmac() { return algorithm().starts_with("HMAC"); }
  // GCM's driver counts for 12-byte IVs alone; the other IVs are software's.
  static bool is_routed(const KnownAnswer& answer) { return !is_gcm() || answer.iv.size() == 12; }

  // One message in one update.
  static void expect_right(const KaccelUnderTest& kaccel, const KnownAnswer& answer) {
    if (is_hmac()) {
      const MacPointer mac = fetch_hmac(kaccel.library());
      const char* digest = GetParam().algorithm + std::string_view("HMAC-").size();
      Bytes result = pass({mac.get(), digest, answer.key, answer.plaintext},
                          HmacPassage{Chunks::one, Reuse::none, 0})
                         .at(0);
      result.resize(answer.tag.size());
      EXPECT_EQ(result, answer.tag);
      return;
    }
    const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), GetParam().algorithm);
    if (is_gcm()) {
      const GcmOutcome sealed =
          seal({cipher.get(), answer.key, answer.iv, answer.aad, answer.plaintext, answer.tag},
               {Chunks::one, Chunks::one, false, false, 0});
      EXPECT_TRUE(sealed.ok);
      EXPECT_EQ(sealed.text, answer.ciphertext);
      EXPECT_EQ(sealed.tag, answer.tag);
      return;
    }
    const Outcome outcome =
        pass({cipher.get(), true, false, answer.key, answer.iv, answer.plaintext},
             {Chunks::one, false, 0});
    EXPECT_TRUE(outcome.ok);
    EXPECT_EQ(outcome.output, answer.ciphertext);
  }
};

TEST_P(ThresholdBorder, decides_which_side_answers) {
  const VectorFile& file = GetParam();
  const auto path = python_file(file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  KaccelAtThresholds kaccels;
  std::size_t records_run = 0;
  std::size_t by_hardware = 0;
  for (const KnownAnswer& answer : read_known_answers(path.string())) {
    if (!is_hmac() && answer.bits % 8 != 0) continue;
    ++records_run;
    const auto size = static_cast<Threshold>(answer.plaintext.size());
    if (size == 0) continue;
    for (const Threshold threshold : {size - 1, size, size + 1}) {
      SCOPED_TRACE(path.string() + ":" + std::to_string(answer.line) + ", threshold " +
                   std::to_string(threshold) + " of " + std::to_string(size) + " bytes");
      const KaccelUnderTest& kaccel = kaccels.at(threshold);
      // Up to the threshold software answers, whatever else there is.
      const bool due =
          threshold < size && is_routed(answer) &&
          goes_to_hardware({file.algorithm, threshold, answer.plaintext.size(), answer.key});
      const std::uint64_t before = kaccel.counter("hardware-calls");
      expect_right(kaccel, answer);
      EXPECT_EQ(kaccel.counter("hardware-calls") - before, due ? 1U : 0U);
      by_hardware += due ? 1 : 0;
    }
    if (HasFailure()) break;
  }
  EXPECT_EQ(records_run, file.records);
  // Each driver's rules leave some lengths. Of real names qce has no AES-192, and takes none of the
  // keys of the files in which they repeat.
  if (by_hardware == 0) {
    EXPECT_TRUE(kaccel::testing::on_real_kernel() &&
                (!kaccel::testing::has_hardware(file.algorithm) ||
                 std::string_view(file.algorithm).starts_with("DES-EDE3")));
  }
  kaccels.expect_clean_runs();
}

std::string border_name(const ::testing::TestParamInfo<VectorFile>& instance) {
  std::string name = case_name({{instance.param, 0}, instance.index});
  return name.substr(0, name.rfind("_threshold"));
}

INSTANTIATE_TEST_SUITE_P(Python, ThresholdBorder, ::testing::ValuesIn(vector_files), border_name);

}  // namespace
}  // namespace kaccel::vectors
