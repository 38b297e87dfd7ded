// A pool on the fake transport, and what the tests of pool and requests ask of it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernel-bridge/cipher_run.hpp"
#include "kernel-bridge/session_pool.hpp"
#include "tests/support/evp.hpp"
#include "tests/support/fake_transport.hpp"

namespace kaccel::kernel {

using Bytes = std::vector<std::uint8_t>;

inline void name_driver(BoundDriver& driver, const char* name, Algorithm algorithm) {
  std::strncpy(driver.name.data(), name, driver.name.size() - 1);
  driver.algorithm = algorithm;
}

// A 16-byte key that differs from every other number's.
inline Bytes key_number(std::uint32_t number) {
  Bytes key(16, 0x5a);
  std::memcpy(key.data(), &number, sizeof number);
  return key;
}

// What a context of the provider keeps, and its smallest request.
struct Context {
  SessionPool& pool;
  BoundDriver& driver;
  Bytes key;
  Direction direction = Direction::encrypt;
  SessionPool::Handle handle{};

  Status borrow(SessionPool::Lease& lease) {
    return pool.borrow({driver, direction, key}, handle, lease);
  }

  Status use() {
    SessionPool::Lease lease;
    return borrow(lease);
  }
};

// The same by OpenSSL's default provider. `iv` may be nullptr.
inline Bytes reference(const testing::LibraryContext& library, const char* algorithm,
                       Direction direction, const Bytes& key, const std::uint8_t* iv,
                       const Bytes& input) {
  const testing::CipherPointer cipher = testing::fetch_cipher(library, algorithm);
  const testing::CipherContextPointer context(EVP_CIPHER_CTX_new());
  Bytes output(input.size() + 16);
  int written = 0;
  EXPECT_EQ(EVP_CipherInit_ex2(context.get(), cipher.get(), key.data(), iv,
                               direction == Direction::encrypt ? 1 : 0, nullptr),
            1);
  EXPECT_EQ(EVP_CIPHER_CTX_set_padding(context.get(), 0), 1);
  EXPECT_EQ(EVP_CipherUpdate(context.get(), output.data(), &written, input.data(),
                             static_cast<int>(input.size())),
            1);
  output.resize(static_cast<std::size_t>(written));
  return output;
}

class PoolTest : public ::testing::Test {
 protected:
  PoolTest() {
    name_driver(cbc_, "fake-cbc", Algorithm::cbc_aes);
    name_driver(ctr_, "fake-ctr", Algorithm::ctr_aes);
    name_driver(ecb_, "fake-ecb", Algorithm::ecb_aes);
  }

  void TearDown() override { EXPECT_EQ(transport_.violations(), std::vector<std::string>{}); }

  testing::FakeTransport transport_;
  BoundDriver cbc_;
  BoundDriver ctr_;
  BoundDriver ecb_;
};

}  // namespace kaccel::kernel
