// NIST's CAVS files for AES-XTS: one update is one data unit. Units that are not whole blocks go to
// hardware only where ciphertext stealing is configured.

#include <gtest/gtest.h>

#include "cipher_vectors.hpp"
#include "provider/algorithms.hpp"
#include "python_vectors.hpp"
#include "tests/support/kaccel_under_test.hpp"
#include "vector_files.hpp"

namespace kaccel::vectors {
namespace {

class XtsVectors : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto path = python_file(GetParam().file);
    if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  }
  static Settings settings() {
    const Threshold threshold = GetParam().threshold;
    return kaccel::testing::settings_with_thresholds(threshold, threshold);
  }
};

TEST_P(XtsVectors, come_out_right_in_both_directions) {
  check_cipher_vectors(GetParam(), settings(), uncut_passages());
}

TEST_P(XtsVectors, come_out_right_with_ciphertext_stealing_in_hardware) {
  if (kaccel::testing::on_real_kernel())
    GTEST_SKIP() << "a self-test has to prove the driver first";
  Settings stealing = settings();
  for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
    stealing.algorithms[row].ciphertext_stealing = algorithm_table[row].kind == Kind::data_units;
  }
  check_cipher_vectors(GetParam(), stealing, uncut_passages());
}

INSTANTIATE_TEST_SUITE_P(Python, XtsVectors, ::testing::ValuesIn(cases(xts_files)), case_name);

}  // namespace
}  // namespace kaccel::vectors
