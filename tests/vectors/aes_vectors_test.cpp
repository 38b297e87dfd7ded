// NIST's CAVS files and RFC 3686 for AES in ECB, CBC and CTR.

#include <gtest/gtest.h>

#include "cipher_vectors.hpp"
#include "python_vectors.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "vector_files.hpp"

namespace kaccel::vectors {
namespace {

class AesVectors : public ::testing::TestWithParam<Case> {};

TEST_P(AesVectors, come_out_right_in_both_directions_however_they_are_cut) {
  const auto path = python_file(GetParam().file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  const Threshold threshold = GetParam().threshold;
  check_cipher_vectors(GetParam(), kaccel::testing::settings_with_thresholds(threshold, threshold),
                       all_passages());
}

INSTANTIATE_TEST_SUITE_P(Python, AesVectors, ::testing::ValuesIn(cases(aes_files)), case_name);

}  // namespace
}  // namespace kaccel::vectors
