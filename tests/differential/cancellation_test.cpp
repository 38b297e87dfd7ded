// pthread_cancel(3) of a thread that is inside EVP: OpenSSL's functions are no cancellation points,
// so the thread goes on until it comes to one of its own.
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

struct Work {
  const LibraryContext& library;
  std::atomic<bool> started{false};
  std::atomic<bool> stop{false};
};

void* encrypt_until_stopped(void* argument) {
  auto& work = *static_cast<Work*>(argument);
  const CipherPointer cipher = fetch_cipher(work.library, "AES-128-CBC");
  std::array<unsigned char, 8192> data{}, out{};
  const std::array<unsigned char, 16> key{}, iv{};
  for (int round = 0; !work.stop; ++round) {
    // A new context and key now and then, so that opening and closing come up too.
    const CipherContextPointer context(EVP_CIPHER_CTX_new());
    EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), iv.data(), nullptr);
    for (int call = 0; call < 8; ++call) {
      int size = 0;
      EVP_EncryptUpdate(context.get(), out.data(), &size, data.data(),
                        static_cast<int>(data.size()));
    }
    work.started = true;
  }
  return &work;
}

TEST(Cancellation, WaitsUntilEvpIsLeft) {
  const KaccelUnderTest kaccel(settings_with_thresholds(always_hardware, always_hardware));
  Work work{kaccel.library()};
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, encrypt_until_stopped, &work), 0);
  while (!work.started) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(pthread_cancel(thread), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  work.stop = true;
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, &work) << "cancelled inside EVP";
}

}  // namespace
}  // namespace kaccel::testing
