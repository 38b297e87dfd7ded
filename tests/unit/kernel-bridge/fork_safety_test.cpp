#include "kernel-bridge/fork_safety.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace kaccel::kernel {
namespace {

bool is_mapped(void* address) {
  unsigned char present = 0;
  return ::mincore(address, 1, &present) == 0;
}

TEST(UnforkedBuffer, GrowsAndIsGivenBack) {
  UnforkedBuffer buffer;
  EXPECT_EQ(buffer.size(), 0U);
  std::uint8_t* bytes = buffer.reserve(100);
  ASSERT_NE(bytes, nullptr);
  std::memset(bytes, 1, 100);
  EXPECT_GE(buffer.size(), 100U);
  EXPECT_EQ(buffer.reserve(50), bytes);
  ASSERT_NE(buffer.reserve(1'000'000), nullptr);
  EXPECT_GE(buffer.size(), 1'000'000U);
  buffer.release();
  EXPECT_EQ(buffer.size(), 0U);
}

TEST(UnforkedBuffer, IsNotThereInAChild) {
  UnforkedBuffer buffer;
  std::uint8_t* bytes = buffer.reserve(100);
  ASSERT_NE(bytes, nullptr);
  ASSERT_TRUE(is_mapped(bytes));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool there = is_mapped(bytes);
    buffer.abandon();  // frees nothing here
    ::_exit(there ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(UnforkedBuffer, SaysWhenMemoryIsOut) {
  UnforkedBuffer buffer;
  EXPECT_EQ(buffer.reserve(SIZE_MAX), nullptr);
  EXPECT_EQ(buffer.reserve(SIZE_MAX / 4), nullptr);
}

}  // namespace
}  // namespace kaccel::kernel
