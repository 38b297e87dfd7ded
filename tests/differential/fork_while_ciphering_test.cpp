// A thread ciphers while another forks (kernel-bridge/fork_safety.hpp tells what could go wrong).
//
// Only a real kernel can lose the output, and only while the driver works: the lab's part `fork`
// makes the simulated device slow for it.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t data_size = 8192;
constexpr std::size_t before_output = 256;  // a neighbour on the output's first page

Bytes encrypted(const LibraryContext& library, const Bytes& data) {
  const CipherPointer cipher = fetch_cipher(library, "AES-256-CTR");
  const CipherContextPointer context(EVP_CIPHER_CTX_new());
  const Bytes key(32, 1);
  const Bytes iv(16, 2);
  Bytes out(data.size());
  int written = 0;
  EXPECT_EQ(EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), iv.data(), nullptr), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context.get(), out.data(), &written, data.data(),
                              static_cast<int>(data.size())),
            1);
  return out;
}

// Counts what comes out wrong until told to stop.
void cipher_until(const std::atomic<bool>& stop, const KaccelUnderTest& kaccel, const Bytes& data,
                  const Bytes& expected, Bytes& memory, std::atomic<unsigned>& calls,
                  std::atomic<unsigned>& wrong) {
  const CipherPointer cipher = fetch_cipher(kaccel.library(), "AES-256-CTR");
  const CipherContextPointer context(EVP_CIPHER_CTX_new());
  const Bytes key(32, 1);
  const Bytes iv(16, 2);
  std::uint8_t* out = memory.data() + before_output;
  int written = 0;
  if (EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), iv.data(), nullptr) != 1)
    ++wrong;
  while (!stop) {
    std::fill_n(out, data_size, std::uint8_t{0xee});
    const bool ok = EVP_EncryptInit_ex2(context.get(), nullptr, nullptr, iv.data(), nullptr) == 1 &&
                    EVP_EncryptUpdate(context.get(), out, &written, data.data(), data_size) == 1;
    if (!ok || !std::equal(expected.begin(), expected.end(), out)) ++wrong;
    ++calls;
  }
}

TEST(ForkWhileCiphering, LosesNoOutput) {
  if (!on_real_kernel()) GTEST_SKIP() << "needs pages that a kernel writes to";
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  Bytes data(data_size);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(13 * i);
  const Bytes expected = encrypted(LibraryContext::with_default_provider(), data);
  Bytes memory(before_output + data_size);
  std::atomic<bool> stop{false};
  std::atomic<unsigned> calls{0};
  std::atomic<unsigned> wrong{0};
  std::thread worker([&] { cipher_until(stop, kaccel, data, expected, memory, calls, wrong); });
  std::thread neighbour([&] {
    volatile std::uint8_t* byte = memory.data();
    while (!stop) {
      *byte = static_cast<std::uint8_t>(*byte + 1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  constexpr unsigned forks = 200;
  for (unsigned i = 0; i < forks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ASSERT_GT(child, 0);
    ::waitpid(child, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  stop = true;
  worker.join();
  neighbour.join();
  EXPECT_GT(calls, 0U);
  EXPECT_EQ(wrong, 0U) << "of " << calls;
  EXPECT_GT(kaccel.counter("hardware-calls"), 0U);
}

}  // namespace
}  // namespace kaccel::testing
