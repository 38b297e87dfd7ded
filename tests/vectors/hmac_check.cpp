#include "hmac_check.hpp"

#include <gtest/gtest.h>

#include "expected_route.hpp"
#include "hmac_passage.hpp"

namespace kaccel::vectors {

void check_hmac_answer(const kaccel::testing::KaccelUnderTest& kaccel, EVP_MAC* mac,
                       const char* digest, Threshold threshold, const KnownAnswer& answer) {
  const std::string algorithm = std::string("HMAC-") + digest;
  const bool due =
      goes_to_hardware({algorithm.c_str(), threshold, answer.plaintext.size(), answer.key});
  for (const HmacPassage& passage : hmac_passages()) {
    SCOPED_TRACE(describe(passage));
    const std::uint64_t calls_before = kaccel.counter("hardware-calls");
    const auto results = pass({mac, digest, answer.key, answer.plaintext}, passage);
    for (Bytes result : results) {
      ASSERT_GE(result.size(), answer.tag.size());
      result.resize(answer.tag.size());
      EXPECT_EQ(result == answer.tag, !answer.refused);
    }
    EXPECT_EQ(kaccel.counter("hardware-calls") - calls_before, due ? results.size() : 0U);
    EXPECT_EQ(take_error(), "");
  }
}

}  // namespace kaccel::vectors
