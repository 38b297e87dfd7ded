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
#include "vector_files.hpp"

namespace kaccel::vectors {
namespace {

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

INSTANTIATE_TEST_SUITE_P(Python, HmacVectors, ::testing::ValuesIn(cases(hmac_files)), case_name);

}  // namespace
}  // namespace kaccel::vectors
