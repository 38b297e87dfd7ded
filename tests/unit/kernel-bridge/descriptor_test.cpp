#include "kernel-bridge/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace kaccel::kernel {
namespace {

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

std::array<int, 2> socket_pair() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

TEST(DescriptorTest, IsNeitherOpenNorIntactBeforeItHasANumber) {
  const Descriptor descriptor;
  EXPECT_FALSE(descriptor.is_open());
  EXPECT_FALSE(descriptor.intact());
}

TEST(DescriptorTest, ClosesItsSocket) {
  const auto ends = socket_pair();
  {
    Descriptor descriptor;
    ASSERT_TRUE(descriptor.adopt(ends[0]));
    EXPECT_TRUE(descriptor.intact());
    EXPECT_EQ(descriptor.number(), ends[0]);
  }
  EXPECT_FALSE(is_open(ends[0]));
  ::close(ends[1]);
}

TEST(DescriptorTest, ClosesTheOldSocketWhenItGetsANewOne) {
  const auto ends = socket_pair();
  Descriptor descriptor;
  ASSERT_TRUE(descriptor.adopt(ends[0]));
  ASSERT_TRUE(descriptor.adopt(ends[1]));
  EXPECT_FALSE(is_open(ends[0]));
  EXPECT_TRUE(descriptor.intact());
}

TEST(DescriptorTest, MovesItsSocketOn) {
  const auto ends = socket_pair();
  Descriptor first;
  ASSERT_TRUE(first.adopt(ends[0]));
  Descriptor second(std::move(first));
  Descriptor third;
  ASSERT_TRUE(third.adopt(ends[1]));
  third = std::move(second);
  EXPECT_FALSE(is_open(ends[1]));
  EXPECT_EQ(third.number(), ends[0]);
  EXPECT_TRUE(third.intact());
}

TEST(DescriptorTest, NoticesThatSomeoneClosedItsNumber) {
  const auto ends = socket_pair();
  Descriptor descriptor;
  ASSERT_TRUE(descriptor.adopt(ends[0]));
  ::close(ends[0]);
  EXPECT_FALSE(descriptor.intact());
  ::close(ends[1]);
}

TEST(DescriptorTest, LeavesANumberAloneThatHasBecomeAnotherSocket) {
  const auto ends = socket_pair();
  const auto others = socket_pair();
  Descriptor descriptor;
  ASSERT_TRUE(descriptor.adopt(ends[0]));
  ASSERT_EQ(::dup2(others[0], ends[0]), ends[0]);
  EXPECT_FALSE(descriptor.intact());
  descriptor.reset();
  ASSERT_TRUE(is_open(ends[0]));
  // And it is still of use to its owner.
  EXPECT_EQ(::write(ends[0], "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(others[1], &byte, 1), 1);
  for (const int number : {ends[0], ends[1], others[0], others[1]}) ::close(number);
}

TEST(DescriptorTest, LeavesANumberAloneThatHasBecomeAFile) {
  const auto ends = socket_pair();
  const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Descriptor descriptor;
  ASSERT_TRUE(descriptor.adopt(ends[0]));
  ASSERT_EQ(::dup2(file, ends[0]), ends[0]);
  EXPECT_FALSE(descriptor.intact());
  descriptor.reset();
  EXPECT_TRUE(is_open(ends[0]));
  for (const int number : {ends[0], ends[1], file}) ::close(number);
}

TEST(DescriptorTest, RefusesANumberThatIsNotOpen) {
  const auto ends = socket_pair();
  ::close(ends[0]);
  ::close(ends[1]);
  Descriptor descriptor;
  EXPECT_FALSE(descriptor.adopt(ends[0]));
  EXPECT_FALSE(descriptor.is_open());
}

}  // namespace
}  // namespace kaccel::kernel
