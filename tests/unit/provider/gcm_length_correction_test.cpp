#include "provider/gcm_length_correction.hpp"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <random>
#include <vector>

namespace kaccel {
namespace {

// GF(2^128) by the book (NIST SP 800-38D, algorithm 1), one bit at a time.
GcmBlock multiply(const GcmBlock& x, const GcmBlock& y) {
  GcmBlock z{};
  GcmBlock v = y;
  for (std::size_t i = 0; i < 128; ++i) {
    if ((x[i / 8] >> (7 - i % 8) & 1) != 0) {
      for (std::size_t j = 0; j < z.size(); ++j) z[j] ^= v[j];
    }
    const bool carry = (v[15] & 1) != 0;
    for (std::size_t j = 15; j > 0; --j) {
      v[j] = static_cast<std::uint8_t>(v[j] >> 1 | v[j - 1] << 7);
    }
    v[0] >>= 1;
    if (carry) v[0] ^= 0xe1;
  }
  return z;
}

GcmBlock lengths(std::uint64_t aad_bits, std::uint64_t text_bits) {
  GcmBlock block{};
  for (std::size_t i = 0; i < 8; ++i) {
    block[7 - i] = static_cast<std::uint8_t>(aad_bits >> (8 * i));
    block[15 - i] = static_cast<std::uint8_t>(text_bits >> (8 * i));
  }
  return block;
}

std::uint64_t padded(std::uint64_t size) {
  return (size + 15) / 16 * 16;
}

TEST(GcmLengthCorrection, IsTheDifferenceOfTheLengthBlocksTimesH) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    GcmBlock h;
    for (auto& byte : h) byte = static_cast<std::uint8_t>(random());
    // From a few bytes to GCM's longest text.
    const std::uint64_t aad = random() >> (28 + random() % 36);
    const std::uint64_t text = random() >> (28 + random() % 36);
    GcmBlock difference = lengths(8 * aad, 8 * text);
    const GcmBlock used = lengths(8 * (padded(aad) + padded(text)), 0);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] ^= used[i];
    ASSERT_EQ(gcm_length_correction(h, aad, text), multiply(difference, h)) << aad << " " << text;
  }
}

TEST(GcmLengthCorrection, IsZeroWhereTheLengthsAreRight) {
  const GcmBlock h{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  EXPECT_EQ(gcm_length_correction(h, 0, 0), GcmBlock{});
  EXPECT_EQ(gcm_length_correction(h, 32, 0), GcmBlock{});
  EXPECT_NE(gcm_length_correction(h, 31, 0), GcmBlock{});
}

}  // namespace
}  // namespace kaccel
