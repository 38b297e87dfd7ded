// After fork(2) parent and child have the same descriptors. Sessions here are real sockets, whose
// other ends the test holds: what is written to one, and when it is closed, can be seen there.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "kernel-bridge/descriptor.hpp"
#include "kernel-bridge/process_epoch.hpp"
#include "tests/unit/kernel-bridge/pool_fixture.hpp"

#if defined(__SANITIZE_THREAD__)
#define KACCEL_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KACCEL_THREAD_SANITIZER 1
#endif
#endif

namespace kaccel::kernel {
namespace {

class SocketSession final : public Session {
 public:
  explicit SocketSession(Descriptor&& socket) noexcept : socket_(std::move(socket)) {}

  Status set_key(std::span<const std::uint8_t>) noexcept override { return success; }
  // Sends one byte, so that the other end sees the request.
  Status crypt(const CipherRequest& request) noexcept override {
    if (!socket_.intact()) return {Failure::descriptor_lost, 0};
    if (::send(socket_.number(), "r", 1, MSG_NOSIGNAL) != 1) return {Failure::driver_error, errno};
    std::copy(request.input.begin(), request.input.end(), request.output);
    return success;
  }
  std::size_t max_request() const noexcept override { return 4096; }

 private:
  Descriptor socket_;
};

class SocketTransport final : public Transport {
 public:
  ~SocketTransport() override {
    for (const int other_end : other_ends) ::close(other_end);
  }

  Status open(const char*, Algorithm, std::unique_ptr<Session>& session) noexcept override {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return {Failure::no_descriptors, errno};
    }
    Descriptor own;
    if (!own.adopt(ends[0])) return {Failure::descriptor_lost, 0};
    own_ends.push_back(ends[0]);
    other_ends.push_back(ends[1]);
    session.reset(new (std::nothrow) SocketSession(std::move(own)));
    return session ? success : Status{Failure::no_memory, ENOMEM};
  }

  std::vector<int> own_ends;
  std::vector<int> other_ends;
};

// A transport without anything to count, for many threads.
class NullTransport final : public Transport {
 public:
  Status open(const char*, Algorithm, std::unique_ptr<Session>& session) noexcept override {
    session.reset(new (std::nothrow) NullSession);
    return session ? success : Status{Failure::no_memory, ENOMEM};
  }

 private:
  class NullSession final : public Session {
    Status set_key(std::span<const std::uint8_t>) noexcept override { return success; }
    Status crypt(const CipherRequest&) noexcept override { return success; }
    std::size_t max_request() const noexcept override { return 4096; }
  };
};

// Runs `check` in a forked child. Whether it said yes; a child that hangs or crashes says no.
bool in_child(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Requests that have reached the other end so far and were not yet counted.
int requests_seen(int other_end) {
  int seen = 0;
  char byte = 0;
  while (::recv(other_end, &byte, 1, MSG_DONTWAIT) == 1) ++seen;
  return seen;
}

bool is_closed_at_the_far_side(int other_end) {
  char byte = 0;
  return ::recv(other_end, &byte, 1, MSG_DONTWAIT) == 0;
}

class ForkTest : public ::testing::Test {
 protected:
  ForkTest() : pool_(transport_, 8) { name_driver(driver_, "socket", Algorithm::cbc_aes); }

  Status request(Context& context) {
    SessionPool::Lease lease;
    if (const Status status = context.borrow(lease); !status) return status;
    std::array<std::uint8_t, 16> block{};
    std::array<std::uint8_t, 16> out{};
    return lease.session().crypt({context.direction, block, block, out.data()});
  }

  SocketTransport transport_;
  BoundDriver driver_;
  SessionPool pool_;
};

TEST(ProcessEpochTest, ChangesInAChildAndNowhereElse) {
  ProcessEpoch epoch;
  const std::uint32_t before = epoch.current();
  EXPECT_EQ(epoch.current(), before);
  EXPECT_TRUE(in_child([&] {
    const std::uint32_t mine = epoch.current();
    const bool grandchild = in_child([&] { return epoch.current() != mine; });
    return mine != before && epoch.current() == mine && grandchild;
  }));
  EXPECT_EQ(epoch.current(), before);
}

TEST_F(ForkTest, GivesTheChildSessionsOfItsOwn) {
  Context context{pool_, driver_, key_number(1)};
  ASSERT_TRUE(request(context));
  ASSERT_EQ(requests_seen(transport_.other_ends[0]), 1);
  EXPECT_TRUE(in_child([&] {
    if (!request(context)) return false;
    return transport_.own_ends.size() == 2 && requests_seen(transport_.other_ends[1]) == 1 &&
           pool_.counters().sessions_open == 1;
  }));
  EXPECT_EQ(requests_seen(transport_.other_ends[0]), 0) << "the child used its parent's session";
}

TEST_F(ForkTest, LeavesTheParentsSessionsWorking) {
  Context context{pool_, driver_, key_number(1)};
  ASSERT_TRUE(request(context));
  ASSERT_TRUE(in_child([&] { return bool(request(context)); }));
  EXPECT_TRUE(request(context));
  EXPECT_EQ(requests_seen(transport_.other_ends[0]), 2);
  EXPECT_EQ(pool_.counters().sessions_opened, 1U);
  EXPECT_EQ(pool_.counters().keys_loaded, 1U);
}

TEST_F(ForkTest, ClosesTheChildsCopiesOfTheParentsDescriptors) {
  Context context{pool_, driver_, key_number(1)};
  ASSERT_TRUE(request(context));
  EXPECT_TRUE(in_child([&] {
    const int parents = transport_.own_ends[0];
    // Another socket may have the number afterwards.
    struct stat before {};
    struct stat after {};
    if (::fstat(parents, &before) != 0 || !request(context)) return false;
    return ::fstat(parents, &after) != 0 || after.st_ino != before.st_ino;
  }));
  EXPECT_FALSE(is_closed_at_the_far_side(transport_.other_ends[0]));
}

TEST_F(ForkTest, GivesAChildOfAChildSessionsOfItsOwn) {
  Context context{pool_, driver_, key_number(1)};
  ASSERT_TRUE(request(context));
  EXPECT_TRUE(in_child([&] {
    if (!request(context)) return false;
    return in_child([&] { return request(context) && transport_.own_ends.size() == 3; });
  }));
}

TEST_F(ForkTest, DoesNotMistakeAParentsHandleForAChilds) {
  Context first{pool_, driver_, key_number(1)};
  Context second{pool_, driver_, key_number(2)};
  ASSERT_TRUE(request(first));
  ASSERT_TRUE(request(second));
  EXPECT_TRUE(in_child([&] {
    // `second` gets the slot that `first` had in the parent.
    if (!request(second) || pool_.share(first.handle).key_load != 0) return false;
    pool_.release(first.handle);
    const std::uint64_t loaded = pool_.counters().keys_loaded;
    return request(second) && pool_.counters().keys_loaded == loaded;
  }));
}

TEST_F(ForkTest, NoticesADescriptorThatSomeoneClosed) {
  Context context{pool_, driver_, key_number(1)};
  ASSERT_TRUE(request(context));
  ::close(transport_.own_ends[0]);
  EXPECT_EQ(request(context).failure, Failure::descriptor_lost);
}

TEST(ForkWithThreadsTest, ForksWhileOtherThreadsUseThePool) {
#ifdef KACCEL_THREAD_SANITIZER
  GTEST_SKIP() << "ThreadSanitizer cannot follow a fork of several threads";
#endif
  NullTransport transport;
  BoundDriver driver;
  name_driver(driver, "null", Algorithm::cbc_aes);
  SessionPool pool(transport, 4);
  // AddressSanitizer's memory is not safe to fork while another thread allocates, so that the
  // threads' keys are made before, and the sessions too.
  constexpr std::uint32_t thread_count = 3;
  constexpr std::uint32_t keys_each = 5;
  std::vector<Context> contexts;
  for (std::uint32_t key = 0; key < thread_count * keys_each; ++key) {
    contexts.push_back({pool, driver, key_number(key)});
  }
  {
    std::array<SessionPool::Lease, thread_count> leases;  // at the same time: a session each
    for (std::uint32_t i = 0; i < thread_count; ++i) {
      ASSERT_TRUE(contexts[i].borrow(leases[i]));
    }
  }
  for (Context& context : contexts) pool.release(context.handle);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, own = &contexts[thread * keys_each]] {
      for (std::uint32_t i = 0; !done.load(); ++i) {
        Context& context = own[i % keys_each];
        (void)context.use();
        pool.release(context.handle);
      }
    });
  }
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(in_child([&] {
      Context context{pool, driver, key_number(1000 + i)};
      return bool(context.use());
    }));
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST(ForkWithThreadsTest, LetsManyThreadsOfAChildRenewThePoolTogether) {
#ifdef KACCEL_THREAD_SANITIZER
  GTEST_SKIP() << "ThreadSanitizer starts no threads after a fork";
#endif
  NullTransport transport;
  BoundDriver driver;
  name_driver(driver, "null", Algorithm::cbc_aes);
  SessionPool pool(transport, 16);
  Context context{pool, driver, key_number(1)};
  ASSERT_TRUE(context.use());
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(in_child([&] {
      std::atomic<std::uint32_t> ready{0};
      std::atomic<int> failures{0};
      std::vector<std::thread> threads;
      for (std::uint32_t thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&, thread] {
          Context own{pool, driver, key_number(thread)};
          ++ready;
          while (ready.load() < 8) continue;
          for (int use = 0; use < 20; ++use) failures += own.use() ? 0 : 1;
        });
      }
      for (std::thread& thread : threads) thread.join();
      return failures.load() == 0 && pool.counters().sessions_open <= 8;
    }));
  }
}

}  // namespace
}  // namespace kaccel::kernel
