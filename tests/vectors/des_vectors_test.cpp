// NIST's CAVS files for 3DES in ECB and CBC. Where all three keys are equal, 3DES is single DES.

#include <gtest/gtest.h>

#include "cipher_vectors.hpp"
#include "expected_route.hpp"
#include "python_vectors.hpp"
#include "tests/support/evp.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "vector_files.hpp"

namespace kaccel::vectors {
namespace {

class TripleDesVectors : public ::testing::TestWithParam<Case> {};
class SingleDesVectors : public ::testing::TestWithParam<Case> {};

TEST_P(TripleDesVectors, come_out_right_in_both_directions_however_they_are_cut) {
  const auto path = python_file(GetParam().file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  const Threshold threshold = GetParam().threshold;
  check_cipher_vectors(GetParam(), kaccel::testing::settings_with_thresholds(threshold, threshold),
                       all_passages());
}

TEST_P(SingleDesVectors, come_out_right_where_single_des_has_a_route) {
  const auto& [file, threshold] = GetParam();
  const auto path = python_file(file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  if (!kaccel::testing::has_legacy_provider())
    GTEST_SKIP() << "OpenSSL's legacy provider does not load";
  const Settings settings = kaccel::testing::settings_with_thresholds(threshold, threshold);
  if (threshold < 0 || !kaccel::testing::has_hardware(file.algorithm)) {
    const kaccel::testing::KaccelUnderTest kaccel(settings);
    EXPECT_EQ(kaccel::testing::fetch_cipher(kaccel.library(), file.algorithm), nullptr)
        << "offered without a route";
    EXPECT_NE(take_error(), "");
    return;
  }
  check_cipher_vectors(GetParam(), settings, all_passages());
}

INSTANTIATE_TEST_SUITE_P(Python, TripleDesVectors, ::testing::ValuesIn(cases(triple_des_files)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Python, SingleDesVectors, ::testing::ValuesIn(cases(single_des_files)),
                         case_name);

}  // namespace
}  // namespace kaccel::vectors
