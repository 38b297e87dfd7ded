// The test cases of RFC 2202 and RFC 4231 for HMAC.

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "expected_route.hpp"
#include "hmac_check.hpp"
#include "hmac_passage.hpp"
#include "known_answers.hpp"
#include "python_vectors.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {
namespace {

// clang-format off
constexpr VectorFile vector_files[] = {
    {"HMAC/rfc-2202-md5.txt",    "HMAC-MD5",    7},
    {"HMAC/rfc-2202-sha1.txt",   "HMAC-SHA1",   7},
    {"HMAC/rfc-4231-sha224.txt", "HMAC-SHA224", 6},
    {"HMAC/rfc-4231-sha256.txt", "HMAC-SHA256", 6},
    {"HMAC/rfc-4231-sha384.txt", "HMAC-SHA384", 6},
    {"HMAC/rfc-4231-sha512.txt", "HMAC-SHA512", 6},
};
// clang-format on

class HmacVectors : public ::testing::TestWithParam<Case> {};

TEST_P(HmacVectors, come_out_right_however_the_message_arrives) {
  const auto& [file, threshold] = GetParam();
  const auto path = python_file(file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  const kaccel::testing::KaccelUnderTest kaccel(
      kaccel::testing::settings_with_thresholds(threshold, threshold));
  const MacPointer mac = fetch_hmac(kaccel.library());
  ASSERT_NE(mac, nullptr);
  const char* digest = file.algorithm + std::string_view("HMAC-").size();

  std::size_t records_run = 0;
  for (const KnownAnswer& answer : read_known_answers(path.string())) {
    SCOPED_TRACE(path.string() + ":" + std::to_string(answer.line));
    check_hmac_answer(kaccel, mac.get(), digest, threshold, answer);
    ++records_run;
  }
  EXPECT_EQ(records_run, file.records);
  expect_clean_run(kaccel);
  std::printf("%s: %zu vectors, %zu passages each, %llu calls answered by hardware\n", file.path,
              records_run, hmac_passages().size(),
              static_cast<unsigned long long>(kaccel.counter("hardware-calls")));
}

INSTANTIATE_TEST_SUITE_P(Python, HmacVectors, ::testing::ValuesIn(cases(vector_files)), case_name);

}  // namespace
}  // namespace kaccel::vectors
