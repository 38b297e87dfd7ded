#include "gcm_check.hpp"

#include <gtest/gtest.h>

#include "expected_route.hpp"
#include "gcm_passage.hpp"

namespace kaccel::vectors {
namespace {

constexpr std::size_t routed_iv_size = 12;
constexpr std::size_t longest_iv_of_openssl = 128;

}  // namespace

void check_gcm_answer(const kaccel::testing::KaccelUnderTest& kaccel, const EVP_CIPHER* cipher,
                      const char* algorithm, Threshold threshold, const KnownAnswer& answer) {
  const bool due = answer.iv.size() == routed_iv_size &&
                   goes_to_hardware({algorithm, threshold, answer.ciphertext.size(), answer.key});
  const bool iv_is_taken = !answer.iv.empty() && answer.iv.size() <= longest_iv_of_openssl;
  const bool opens = !answer.refused && iv_is_taken;
  const bool has_plaintext = answer.plaintext.size() == answer.ciphertext.size();
  for (const GcmPassage& passage : gcm_passages()) {
    SCOPED_TRACE(describe(passage));
    const std::uint64_t calls_before = kaccel.counter("hardware-calls");
    const GcmOutcome opened =
        open({cipher, answer.key, answer.iv, answer.aad, answer.ciphertext, answer.tag}, passage);
    EXPECT_EQ(opened.ok, opens);
    const std::uint64_t calls_to_open = kaccel.counter("hardware-calls") - calls_before;
    if (passage.text == Chunks::one) {
      EXPECT_EQ(calls_to_open, due ? 1U : 0U);
    }
    if (!due) {
      EXPECT_EQ(calls_to_open, 0U);
    }
    const std::string error = take_error();
    if (opens) {
      EXPECT_EQ(opened.text, answer.plaintext);
      EXPECT_EQ(error, "");
    }

    if (!has_plaintext) continue;
    const GcmOutcome sealed =
        seal({cipher, answer.key, answer.iv, answer.aad, answer.plaintext, answer.tag}, passage);
    if (!iv_is_taken) {
      EXPECT_FALSE(sealed.ok);
      EXPECT_NE(take_error(), "");
      continue;
    }
    EXPECT_TRUE(sealed.ok);
    if (answer.refused) {
      EXPECT_NE(sealed.tag, answer.tag);
    } else {
      EXPECT_EQ(sealed.text, answer.ciphertext);
      EXPECT_EQ(sealed.tag, answer.tag);
    }
    EXPECT_EQ(take_error(), "");
    const std::uint64_t calls = kaccel.counter("hardware-calls") - calls_before;
    if (passage.text == Chunks::one) {
      EXPECT_EQ(calls, due ? 2U : 0U);
    }
    if (!due) {
      EXPECT_EQ(calls, 0U);
    }
  }
}

}  // namespace kaccel::vectors
