#include "kernel-bridge/secret.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kaccel::kernel {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(SecretKey, EqualsItsOwnBytesAndNoOthers) {
  for (std::size_t size = 0; size <= max_key_size; ++size) {
    Bytes bytes(size, 0x5a);
    SecretKey key;
    key.assign(bytes);
    EXPECT_TRUE(key.equals(bytes)) << size;
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] ^= 0x80;
      EXPECT_FALSE(key.equals(bytes)) << "byte " << i << " of " << size;
      bytes[i] ^= 0x80;
    }
    bytes.push_back(0);  // as what lies behind a shorter key
    EXPECT_FALSE(key.equals(bytes)) << size;
    bytes.resize(size);
    if (size == 0) continue;
    bytes.pop_back();
    EXPECT_FALSE(key.equals(bytes)) << size;
  }
}

TEST(SecretKey, IsEmptyAfterAKeyThatDoesNotFit) {
  SecretKey key;
  key.assign(Bytes(16, 1));
  key.assign(Bytes(max_key_size + 1, 1));
  EXPECT_TRUE(key.empty());
}

}  // namespace
}  // namespace kaccel::kernel
