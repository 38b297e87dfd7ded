// Python's cryptography vectors (NIST's CAVS files and RFC 3686) through kaccel.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>

#include "expected_route.hpp"
#include "known_answers.hpp"
#include "passage.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {
namespace {

struct VectorFile {
  const char* directory;
  const char* name;
  const char* algorithm;
  std::size_t records;  // exactly so many, so that an empty run cannot pass
};

// clang-format off
constexpr VectorFile vector_files[] = {
    {"ECB", "ECBGFSbox128.rsp",  "AES-128-ECB", 14},
    {"ECB", "ECBGFSbox192.rsp",  "AES-192-ECB", 12},
    {"ECB", "ECBGFSbox256.rsp",  "AES-256-ECB", 10},
    {"ECB", "ECBKeySbox128.rsp", "AES-128-ECB", 42},
    {"ECB", "ECBKeySbox192.rsp", "AES-192-ECB", 48},
    {"ECB", "ECBKeySbox256.rsp", "AES-256-ECB", 32},
    {"ECB", "ECBMMT128.rsp",     "AES-128-ECB", 20},
    {"ECB", "ECBMMT192.rsp",     "AES-192-ECB", 20},
    {"ECB", "ECBMMT256.rsp",     "AES-256-ECB", 20},
    {"ECB", "ECBVarKey128.rsp",  "AES-128-ECB", 256},
    {"ECB", "ECBVarKey192.rsp",  "AES-192-ECB", 384},
    {"ECB", "ECBVarKey256.rsp",  "AES-256-ECB", 512},
    {"ECB", "ECBVarTxt128.rsp",  "AES-128-ECB", 256},
    {"ECB", "ECBVarTxt192.rsp",  "AES-192-ECB", 256},
    {"ECB", "ECBVarTxt256.rsp",  "AES-256-ECB", 256},
    {"CBC", "CBCGFSbox128.rsp",  "AES-128-CBC", 14},
    {"CBC", "CBCGFSbox192.rsp",  "AES-192-CBC", 12},
    {"CBC", "CBCGFSbox256.rsp",  "AES-256-CBC", 10},
    {"CBC", "CBCKeySbox128.rsp", "AES-128-CBC", 42},
    {"CBC", "CBCKeySbox192.rsp", "AES-192-CBC", 48},
    {"CBC", "CBCKeySbox256.rsp", "AES-256-CBC", 32},
    {"CBC", "CBCMMT128.rsp",     "AES-128-CBC", 20},
    {"CBC", "CBCMMT192.rsp",     "AES-192-CBC", 20},
    {"CBC", "CBCMMT256.rsp",     "AES-256-CBC", 20},
    {"CBC", "CBCVarKey128.rsp",  "AES-128-CBC", 256},
    {"CBC", "CBCVarKey192.rsp",  "AES-192-CBC", 384},
    {"CBC", "CBCVarKey256.rsp",  "AES-256-CBC", 512},
    {"CBC", "CBCVarTxt128.rsp",  "AES-128-CBC", 256},
    {"CBC", "CBCVarTxt192.rsp",  "AES-192-CBC", 256},
    {"CBC", "CBCVarTxt256.rsp",  "AES-256-CBC", 256},
    {"CTR", "aes-128-ctr.txt",   "AES-128-CTR", 3},
    {"CTR", "aes-192-ctr.txt",   "AES-192-CTR", 3},
    {"CTR", "aes-256-ctr.txt",   "AES-256-CTR", 3},
};
// clang-format on

std::filesystem::path vectors_directory() {
  const char* chosen = std::getenv("KACCEL_VECTORS_DIR");
  return chosen != nullptr ? chosen
                           : "/usr/lib/python3/dist-packages/cryptography_vectors/ciphers/AES";
}

struct Case {
  VectorFile file;
  Threshold threshold;
};

std::string name_of(const ::testing::TestParamInfo<Case>& instance) {
  const auto& [file, threshold] = instance.param;
  std::string name = file.name;
  name.erase(name.find('.'));
  std::erase(name, '-');
  return name + "_threshold_" + (threshold < 0 ? "never" : std::to_string(threshold));
}

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.file.name << ", threshold " << c.threshold;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const VectorFile& file : vector_files) {
    for (const Threshold threshold : {never_hardware, always_hardware, Threshold{16}}) {
      cases.push_back({file, threshold});
    }
  }
  return cases;
}

class AesVectors : public ::testing::TestWithParam<Case> {};

TEST_P(AesVectors, come_out_right_in_both_directions_however_they_are_cut) {
  const auto& [file, threshold] = GetParam();
  const std::filesystem::path path = vectors_directory() / file.directory / file.name;
  if (!std::filesystem::exists(path.parent_path())) {
    GTEST_SKIP() << path.parent_path().string()
                 << " is not there: install python3-cryptography-vectors, or name its "
                    "ciphers/AES directory in KACCEL_VECTORS_DIR";
  }
  const std::vector<KnownAnswer> answers = read_known_answers(path.string());
  const kaccel::testing::KaccelUnderTest kaccel(
      kaccel::testing::settings_with_thresholds(threshold, threshold));
  const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), file.algorithm);
  ASSERT_NE(cipher, nullptr);

  std::size_t records_run = 0;
  bool hardware_was_due = false;
  for (const KnownAnswer& answer : answers) {
    hardware_was_due =
        hardware_was_due || goes_to_hardware(file.algorithm, threshold, answer.plaintext.size());
    for (const bool encrypt : {true, false}) {
      const Bytes& input = encrypt ? answer.plaintext : answer.ciphertext;
      const Bytes& expected = encrypt ? answer.ciphertext : answer.plaintext;
      for (const Passage& passage : all_passages()) {
        SCOPED_TRACE(path.string() + ":" + std::to_string(answer.line) +
                     (encrypt ? ", encrypted " : ", decrypted ") + describe(passage));
        const Outcome outcome =
            pass({cipher.get(), encrypt, false, answer.key, answer.iv, input}, passage);
        EXPECT_TRUE(outcome.ok);
        EXPECT_EQ(outcome.output, expected);
        EXPECT_EQ(take_error(), "");
      }
    }
    ++records_run;
    if (HasFailure()) break;
  }
  EXPECT_EQ(records_run, file.records);
  EXPECT_EQ(kaccel.counter("hardware-calls") > 0, hardware_was_due);
  EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
  if (kaccel.fake() != nullptr) {
    EXPECT_TRUE(kaccel.fake()->violations().empty());
  }
  std::printf("%s: %zu vectors, %zu passages each, %llu calls answered by hardware\n", file.name,
              records_run, 2 * all_passages().size(),
              static_cast<unsigned long long>(kaccel.counter("hardware-calls")));
}

INSTANTIATE_TEST_SUITE_P(Python, AesVectors, ::testing::ValuesIn(all_cases()), name_of);

}  // namespace
}  // namespace kaccel::vectors
