#include "calibrate/call_size.hpp"

#include <gtest/gtest.h>

#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

const Algorithm& row(const char* name) {
  return algorithm_table[find_algorithm(name)];
}

const kernel::Restrictions xts_of_qce{.min_size = 17, .multiple_above = 512, .size_multiple = 512};

TEST(CallSize, BlockModesAndGcmCountWholeBlocks) {
  EXPECT_EQ(routed_bytes(row("AES-128-CBC"), 1420), 1408u);
  EXPECT_EQ(routed_bytes(row("DES-CBC"), 1420), 1416u);
  EXPECT_EQ(routed_bytes(row("AES-128-GCM"), 31), 16u);
  EXPECT_EQ(routed_bytes(row("AES-128-XTS"), 1420), 1420u);
  EXPECT_EQ(routed_bytes(row("HMAC-SHA1"), 1420), 1420u);
}

TEST(CallSize, GcmIsHeldToTheWholeBlocksOfAMessage) {
  EXPECT_FALSE(permits_call(row("AES-128-GCM"), 31, {{.min_size = 17}}));
  EXPECT_TRUE(permits_call(row("AES-128-GCM"), 32, {{.min_size = 17}}));
  EXPECT_FALSE(permits_call(row("AES-128-GCM"), 15, {}));
}

TEST(CallSize, ADataUnitIsHeldToTheRuleOfItsDriver) {
  const auto& xts = row("AES-128-XTS");
  for (const std::size_t size : {std::size_t{32}, std::size_t{512}, std::size_t{1536}}) {
    EXPECT_TRUE(permits_call(xts, size, {xts_of_qce})) << size;
  }
  for (const std::size_t size : {std::size_t{16}, std::size_t{500}, std::size_t{528}}) {
    EXPECT_FALSE(permits_call(xts, size, {xts_of_qce})) << size;
  }
  EXPECT_TRUE(permits_call(xts, 500, {xts_of_qce, true}));
  EXPECT_FALSE(permits_call(xts, 1420, {xts_of_qce, true}));
}

TEST(CallSize, WhatCannotBeSplitIsHeldToOneRequest) {
  EXPECT_FALSE(permits_call(row("AES-128-XTS"), 8192, {{.max_size = 4096}}));
  EXPECT_FALSE(permits_call(row("AES-128-XTS"), 8192, {{}, false, 4096}));
  EXPECT_TRUE(permits_call(row("AES-128-CBC"), 8192, {{.max_size = 4096}, false, 4096}));
  EXPECT_FALSE(permits_call(row("HMAC-MD5"), 8192, {{.max_size = 4096}}));
  EXPECT_FALSE(permits_call(row("HMAC-MD5"), (1 << 20) + 1, {}));
  EXPECT_TRUE(permits_call(row("HMAC-MD5"), 1 << 20, {}));
}

TEST(CallSize, OnlyBlockModesAreMeasuredAtOtherSizesThanAsked) {
  const std::vector<std::size_t> sizes{1420, 10, 16};
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes_to_measure(row("AES-128-CBC"), sizes), (Sizes{16, 1424}));
  EXPECT_EQ(sizes_to_measure(row("DES-ECB"), sizes), (Sizes{16, 1424}));
  EXPECT_EQ(sizes_to_measure(row("AES-128-XTS"), sizes), (Sizes{16, 1420}));
  EXPECT_EQ(sizes_to_measure(row("AES-128-GCM"), sizes), (Sizes{10, 16, 1420}));
  EXPECT_EQ(sizes_to_measure(row("HMAC-SHA1"), sizes), (Sizes{10, 16, 1420}));
}

TEST(CallSize, TheKernelIsAskedForItsLongestRequest) {
  FakeTransport transport("fake");
  transport.max_request = 12'288;
  EXPECT_EQ(longest_request(transport, "fake", row("AES-256-XTS")), 12'288u);
  EXPECT_EQ(longest_request(transport, "other", row("AES-256-XTS")), SIZE_MAX);
}

}  // namespace
}  // namespace kaccel::calibrate
