// NIST's CAVS files and RFC 3686 for AES in ECB, CBC and CTR.

#include <gtest/gtest.h>

#include "cipher_vectors.hpp"
#include "python_vectors.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {
namespace {

// clang-format off
constexpr VectorFile vector_files[] = {
    {"ciphers/AES/ECB/ECBGFSbox128.rsp",  "AES-128-ECB", 14},
    {"ciphers/AES/ECB/ECBGFSbox192.rsp",  "AES-192-ECB", 12},
    {"ciphers/AES/ECB/ECBGFSbox256.rsp",  "AES-256-ECB", 10},
    {"ciphers/AES/ECB/ECBKeySbox128.rsp", "AES-128-ECB", 42},
    {"ciphers/AES/ECB/ECBKeySbox192.rsp", "AES-192-ECB", 48},
    {"ciphers/AES/ECB/ECBKeySbox256.rsp", "AES-256-ECB", 32},
    {"ciphers/AES/ECB/ECBMMT128.rsp",     "AES-128-ECB", 20},
    {"ciphers/AES/ECB/ECBMMT192.rsp",     "AES-192-ECB", 20},
    {"ciphers/AES/ECB/ECBMMT256.rsp",     "AES-256-ECB", 20},
    {"ciphers/AES/ECB/ECBVarKey128.rsp",  "AES-128-ECB", 256},
    {"ciphers/AES/ECB/ECBVarKey192.rsp",  "AES-192-ECB", 384},
    {"ciphers/AES/ECB/ECBVarKey256.rsp",  "AES-256-ECB", 512},
    {"ciphers/AES/ECB/ECBVarTxt128.rsp",  "AES-128-ECB", 256},
    {"ciphers/AES/ECB/ECBVarTxt192.rsp",  "AES-192-ECB", 256},
    {"ciphers/AES/ECB/ECBVarTxt256.rsp",  "AES-256-ECB", 256},
    {"ciphers/AES/CBC/CBCGFSbox128.rsp",  "AES-128-CBC", 14},
    {"ciphers/AES/CBC/CBCGFSbox192.rsp",  "AES-192-CBC", 12},
    {"ciphers/AES/CBC/CBCGFSbox256.rsp",  "AES-256-CBC", 10},
    {"ciphers/AES/CBC/CBCKeySbox128.rsp", "AES-128-CBC", 42},
    {"ciphers/AES/CBC/CBCKeySbox192.rsp", "AES-192-CBC", 48},
    {"ciphers/AES/CBC/CBCKeySbox256.rsp", "AES-256-CBC", 32},
    {"ciphers/AES/CBC/CBCMMT128.rsp",     "AES-128-CBC", 20},
    {"ciphers/AES/CBC/CBCMMT192.rsp",     "AES-192-CBC", 20},
    {"ciphers/AES/CBC/CBCMMT256.rsp",     "AES-256-CBC", 20},
    {"ciphers/AES/CBC/CBCVarKey128.rsp",  "AES-128-CBC", 256},
    {"ciphers/AES/CBC/CBCVarKey192.rsp",  "AES-192-CBC", 384},
    {"ciphers/AES/CBC/CBCVarKey256.rsp",  "AES-256-CBC", 512},
    {"ciphers/AES/CBC/CBCVarTxt128.rsp",  "AES-128-CBC", 256},
    {"ciphers/AES/CBC/CBCVarTxt192.rsp",  "AES-192-CBC", 256},
    {"ciphers/AES/CBC/CBCVarTxt256.rsp",  "AES-256-CBC", 256},
    {"ciphers/AES/CTR/aes-128-ctr.txt",   "AES-128-CTR", 3},
    {"ciphers/AES/CTR/aes-192-ctr.txt",   "AES-192-CTR", 3},
    {"ciphers/AES/CTR/aes-256-ctr.txt",   "AES-256-CTR", 3},
};
// clang-format on

class AesVectors : public ::testing::TestWithParam<Case> {};

TEST_P(AesVectors, come_out_right_in_both_directions_however_they_are_cut) {
  const auto path = python_file(GetParam().file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  const Threshold threshold = GetParam().threshold;
  check_cipher_vectors(GetParam(), kaccel::testing::settings_with_thresholds(threshold, threshold),
                       all_passages());
}

INSTANTIATE_TEST_SUITE_P(Python, AesVectors, ::testing::ValuesIn(cases(vector_files)), case_name);

}  // namespace
}  // namespace kaccel::vectors
