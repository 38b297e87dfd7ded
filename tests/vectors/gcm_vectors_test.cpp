// NIST's CAVS files for AES-GCM: right and wrong tags, cut short down to four bytes, and IVs of 1,
// 12 and 128 bytes.

#include <gtest/gtest.h>

#include <cstdio>

#include "expected_route.hpp"
#include "gcm_check.hpp"
#include "gcm_passage.hpp"
#include "known_answers.hpp"
#include "python_vectors.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "vector_files.hpp"

namespace kaccel::vectors {
namespace {

struct GcmCase {
  GcmFile gcm;
  Threshold threshold;
};

void PrintTo(const GcmCase& c, std::ostream* out) {
  PrintTo(Case{c.gcm.file, c.threshold}, out);
}

// Threshold 16 is left to Wycheproof: these files are long.
std::vector<GcmCase> gcm_cases() {
  std::vector<GcmCase> all;
  for (const GcmFile& file : gcm_files) {
    for (const Threshold threshold : {never_hardware, always_hardware}) {
      all.push_back({file, threshold});
    }
  }
  return all;
}

class GcmVectors : public ::testing::TestWithParam<GcmCase> {};

TEST_P(GcmVectors, seal_and_open_however_they_are_cut) {
  const auto& [gcm, threshold] = GetParam();
  const VectorFile& file = gcm.file;
  const auto path = python_file(file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  const kaccel::testing::KaccelUnderTest kaccel(
      kaccel::testing::settings_with_thresholds(threshold, threshold));
  const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), file.algorithm);
  ASSERT_NE(cipher, nullptr);

  std::size_t records_run = 0;
  std::size_t refused = 0;
  for (const KnownAnswer& answer : read_known_answers(path.string())) {
    SCOPED_TRACE(path.string() + ":" + std::to_string(answer.line));
    check_gcm_answer(kaccel, cipher.get(), file.algorithm, threshold, answer);
    ++records_run;
    if (answer.refused) ++refused;
    if (HasFailure()) break;
  }
  EXPECT_EQ(records_run, file.records);
  EXPECT_EQ(refused, gcm.refused);
  expect_clean_run(kaccel);
  std::printf(
      "%s: %zu vectors, %zu of them to be refused, %zu passages, %llu calls answered by "
      "hardware\n",
      file.path, records_run, refused, gcm_passages().size(),
      static_cast<unsigned long long>(kaccel.counter("hardware-calls")));
}

std::string gcm_case_name(const ::testing::TestParamInfo<GcmCase>& instance) {
  const auto& [gcm, threshold] = instance.param;
  return case_name({{gcm.file, threshold}, instance.index});
}

INSTANTIATE_TEST_SUITE_P(Python, GcmVectors, ::testing::ValuesIn(gcm_cases()), gcm_case_name);

}  // namespace
}  // namespace kaccel::vectors
