// The border of a threshold: each vector, in both directions, at the threshold one byte below its
// length, at its length and one byte above, and the side that has to answer, by the provider's
// counters. Public report: bridges that were one byte off.

#include <gtest/gtest.h>

#include <array>
#include <compare>
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
#include "tests/support/evp.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {
namespace {

using kaccel::testing::KaccelUnderTest;

// A file of each mode, with messages of several lengths.
// clang-format off
constexpr VectorFile vector_files[] = {
    {"ciphers/AES/ECB/ECBMMT128.rsp",                    "AES-128-ECB",  20},
    {"ciphers/AES/ECB/ECBMMT192.rsp",                    "AES-192-ECB",  20},
    {"ciphers/AES/ECB/ECBMMT256.rsp",                    "AES-256-ECB",  20},
    {"ciphers/AES/CBC/CBCMMT128.rsp",                    "AES-128-CBC",  20},
    {"ciphers/AES/CBC/CBCMMT192.rsp",                    "AES-192-CBC",  20},
    {"ciphers/AES/CBC/CBCMMT256.rsp",                    "AES-256-CBC",  20},
    {"ciphers/AES/CTR/aes-128-ctr.txt",                  "AES-128-CTR",  3},
    {"ciphers/AES/CTR/aes-192-ctr.txt",                  "AES-192-CTR",  3},
    {"ciphers/AES/CTR/aes-256-ctr.txt",                  "AES-256-CTR",  3},
    {"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES128.rsp", "AES-128-XTS",  800, 200},
    {"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES256.rsp", "AES-256-XTS",  600, 400},
    {"ciphers/3DES/CBC/TCBCMMT3.rsp",                    "DES-EDE3-CBC", 20},
    {"ciphers/3DES/ECB/TECBMMT2.rsp",                    "DES-EDE3-ECB", 20},
    {"ciphers/3DES/CBC/TCBCMMT2.rsp",                    "DES-EDE-CBC",  20},
    {"ciphers/3DES/ECB/TECBMMT2.rsp",                    "DES-EDE-ECB",  20},
    {"ciphers/3DES/CBC/TCBCMMT1.rsp",                    "DES-CBC",      20},
    {"ciphers/3DES/ECB/TECBMMT1.rsp",                    "DES-ECB",      20},
    {"ciphers/AES/GCM/gcmEncryptExtIV128.rsp",           "AES-128-GCM",  7875},
    {"ciphers/AES/GCM/gcmEncryptExtIV192.rsp",           "AES-192-GCM",  7875},
    {"ciphers/AES/GCM/gcmEncryptExtIV256.rsp",           "AES-256-GCM",  7875},
    {"HMAC/rfc-2202-md5.txt",                            "HMAC-MD5",     7},
    {"HMAC/rfc-2202-sha1.txt",                           "HMAC-SHA1",    7},
    {"HMAC/rfc-4231-sha224.txt",                         "HMAC-SHA224",  6},
    {"HMAC/rfc-4231-sha256.txt",                         "HMAC-SHA256",  6},
    {"HMAC/rfc-4231-sha384.txt",                         "HMAC-SHA384",  6},
    {"HMAC/rfc-4231-sha512.txt",                         "HMAC-SHA512",  6},
};
// clang-format on

struct Thresholds {
  Threshold encrypt;
  Threshold decrypt;

  friend auto operator<=>(const Thresholds&, const Thresholds&) = default;
};

// Each direction has every threshold around `size` once, and never the other one's.
std::array<Thresholds, 3> thresholds_around(Threshold size) {
  return {Thresholds{size - 1, size}, Thresholds{size, size + 1}, Thresholds{size + 1, size - 1}};
}

// One for each two thresholds that were asked for: the vectors have few lengths.
class KaccelAtThresholds {
 public:
  const KaccelUnderTest& at(Thresholds thresholds) {
    auto& kaccel = loaded_[thresholds];
    if (kaccel == nullptr) {
      kaccel = std::make_unique<KaccelUnderTest>(
          kaccel::testing::settings_with_thresholds(thresholds.encrypt, thresholds.decrypt));
    }
    return *kaccel;
  }
  void expect_clean_runs() const {
    for (const auto& [thresholds, kaccel] : loaded_) expect_clean_run(*kaccel);
  }

 private:
  std::map<Thresholds, std::unique_ptr<KaccelUnderTest>> loaded_;
};

class ThresholdBorder : public ::testing::TestWithParam<VectorFile> {
 protected:
  static std::string_view algorithm() { return GetParam().algorithm; }
  static bool is_gcm() { return algorithm().ends_with("GCM"); }
  static bool is_hmac() { return algorithm().starts_with("HMAC"); }
  static bool is_single_des() { return algorithm() == "DES-CBC" || algorithm() == "DES-ECB"; }
  // GCM's driver counts for 12-byte IVs alone; the other IVs are software's.
  static bool is_routed(const KnownAnswer& answer) { return !is_gcm() || answer.iv.size() == 12; }

  // One message in one update. A MAC has one direction only.
  static void expect_right(const KaccelUnderTest& kaccel, const KnownAnswer& answer, bool encrypt) {
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
    const Bytes& input = encrypt ? answer.plaintext : answer.ciphertext;
    const Bytes& expected = encrypt ? answer.ciphertext : answer.plaintext;
    if (is_gcm()) {
      const GcmMessage message{cipher.get(), answer.key, answer.iv, answer.aad, input, answer.tag};
      const GcmPassage passage{Chunks::one, Chunks::one, false, false, 0};
      const GcmOutcome outcome = encrypt ? seal(message, passage) : open(message, passage);
      EXPECT_TRUE(outcome.ok);
      EXPECT_EQ(outcome.text, expected);
      if (encrypt) {
        EXPECT_EQ(outcome.tag, answer.tag);
      }
      return;
    }
    const Outcome outcome =
        pass({cipher.get(), encrypt, false, key_of(GetParam(), answer), answer.iv, input},
             {Chunks::one, false, 0});
    EXPECT_TRUE(outcome.ok);
    EXPECT_EQ(outcome.output, expected);
  }

  // Runs the message and returns whether hardware had to answer it.
  static bool expect_the_side(const KaccelUnderTest& kaccel, const KnownAnswer& answer,
                              Threshold threshold, bool encrypt) {
    const std::size_t size = answer.plaintext.size();
    SCOPED_TRACE((encrypt ? "encrypting, threshold " : "decrypting, threshold ") +
                 std::to_string(threshold) + " of " + std::to_string(size) + " bytes");
    // Up to the threshold software answers, whatever else there is.
    const bool due =
        threshold < static_cast<Threshold>(size) && is_routed(answer) &&
        goes_to_hardware({GetParam().algorithm, threshold, size, key_of(GetParam(), answer)});
    const std::uint64_t before = kaccel.counter("hardware-calls");
    expect_right(kaccel, answer, encrypt);
    EXPECT_EQ(kaccel.counter("hardware-calls") - before, due ? 1U : 0U);
    return due;
  }
};

TEST_P(ThresholdBorder, decides_which_side_answers) {
  const VectorFile& file = GetParam();
  const auto path = python_file(file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  if (is_single_des()) {
    if (!kaccel::testing::has_legacy_provider())
      GTEST_SKIP() << "OpenSSL's legacy provider does not load";
    if (!kaccel::testing::has_hardware(file.algorithm))
      GTEST_SKIP() << "not offered without a route";
  }
  KaccelAtThresholds kaccels;
  std::size_t records_run = 0;
  std::size_t by_hardware = 0;
  for (const KnownAnswer& answer : read_known_answers(path.string())) {
    if (!is_hmac() && answer.bits % 8 != 0) continue;
    ++records_run;
    const auto size = static_cast<Threshold>(answer.plaintext.size());
    if (size == 0) continue;
    SCOPED_TRACE(path.string() + ":" + std::to_string(answer.line));
    for (const Thresholds& thresholds : thresholds_around(size)) {
      const KaccelUnderTest& kaccel = kaccels.at(thresholds);
      by_hardware += expect_the_side(kaccel, answer, thresholds.encrypt, true) ? 1 : 0;
      if (is_hmac()) continue;
      by_hardware += expect_the_side(kaccel, answer, thresholds.decrypt, false) ? 1 : 0;
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
