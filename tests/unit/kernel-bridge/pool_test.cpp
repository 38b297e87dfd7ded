#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/kernel-bridge/pool_fixture.hpp"

namespace kaccel::kernel {
namespace {

using Step = testing::FakeTransport::Step;
using SessionPoolTest = PoolTest;

TEST_F(SessionPoolTest, OpensNothingBeforeItIsNeeded) {
  SessionPool pool(transport_, 64);
  EXPECT_EQ(pool.counters().sessions_opened, 0U);
  EXPECT_EQ(transport_.calls(Step::open), 0U);
}

TEST_F(SessionPoolTest, LoadsTheKeyOfOneContextInALoopOnce) {
  SessionPool pool(transport_, 64);
  Context context{pool, cbc_, key_number(1)};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(context.use());
  EXPECT_EQ(pool.counters().keys_loaded, 1U);
  EXPECT_EQ(pool.counters().sessions_opened, 1U);
  EXPECT_EQ(transport_.calls(Step::set_key), 1U);
}

TEST_F(SessionPoolTest, LoadsTheKeysOfTwoAlternatingContextsOnceEach) {
  SessionPool pool(transport_, 64);
  Context first{pool, cbc_, key_number(1)};
  Context second{pool, cbc_, key_number(2)};
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(first.use());
    ASSERT_TRUE(second.use());
  }
  EXPECT_EQ(pool.counters().keys_loaded, 2U);
  EXPECT_EQ(pool.counters().sessions_open, 2U);
}

TEST_F(SessionPoolTest, FindsASessionThatHasTheSameKey) {
  SessionPool pool(transport_, 64);
  Context first{pool, cbc_, key_number(1)};
  Context second{pool, cbc_, key_number(1)};
  ASSERT_TRUE(first.use());
  ASSERT_TRUE(second.use());
  EXPECT_EQ(pool.counters().keys_loaded, 1U);
}

TEST_F(SessionPoolTest, GivesEachDirectionAndEachDriverASessionOfItsOwn) {
  SessionPool pool(transport_, 64);
  Context encrypting{pool, cbc_, key_number(1)};
  Context decrypting{pool, cbc_, key_number(1), Direction::decrypt};
  Context counting{pool, ctr_, key_number(1)};
  ASSERT_TRUE(encrypting.use());
  ASSERT_TRUE(decrypting.use());
  ASSERT_TRUE(counting.use());
  EXPECT_EQ(pool.counters().sessions_open, 3U);
  // One context that turns round finds both of its sessions again.
  encrypting.direction = Direction::decrypt;
  ASSERT_TRUE(encrypting.use());
  EXPECT_EQ(pool.counters().keys_loaded, 3U);
}

TEST_F(SessionPoolTest, ServesAThousandContextsWithSixtyFourSessions) {
  SessionPool pool(transport_, 64);
  const auto library = testing::LibraryContext::with_default_provider();
  std::vector<Context> contexts;
  for (std::uint32_t i = 0; i < 1000; ++i) contexts.push_back({pool, ecb_, key_number(i)});
  const Bytes input(64, 0x11);
  for (int round = 0; round < 3; ++round) {
    for (Context& context : contexts) {
      Bytes output(input.size());
      const CipherProgress progress = run_cipher(pool, context.handle,
                                                 {ecb_, Direction::encrypt, context.key, nullptr,
                                                  input.data(), output.data(), input.size()});
      ASSERT_TRUE(progress.status);
      ASSERT_EQ(output,
                reference(library, "AES-128-ECB", Direction::encrypt, context.key, nullptr, input));
    }
  }
  EXPECT_EQ(transport_.most_open_sessions(), 64U);
  EXPECT_EQ(pool.counters().sessions_open, 64U);
  // Going round with fewer sessions than contexts finds none again, but re-keys open ones.
  EXPECT_EQ(pool.counters().sessions_opened, 64U);
}

TEST_F(SessionPoolTest, GivesUpTheSessionUsedLongestAgo) {
  SessionPool pool(transport_, 2);
  Context a{pool, cbc_, key_number(1)};
  Context b{pool, cbc_, key_number(2)};
  Context c{pool, cbc_, key_number(3)};
  ASSERT_TRUE(a.use());
  ASSERT_TRUE(b.use());
  ASSERT_TRUE(a.use());
  ASSERT_TRUE(c.use());  // b's
  EXPECT_EQ(pool.counters().keys_loaded, 3U);
  ASSERT_TRUE(a.use());
  EXPECT_EQ(pool.counters().keys_loaded, 3U);
  ASSERT_TRUE(b.use());  // c's
  EXPECT_EQ(pool.counters().keys_loaded, 4U);
  ASSERT_TRUE(a.use());
  EXPECT_EQ(pool.counters().keys_loaded, 4U);
}

TEST_F(SessionPoolTest, GivesUpASessionThatNobodyNeedsBeforeOneThatSomebodyWillMiss) {
  SessionPool pool(transport_, 2);
  Context needed{pool, cbc_, key_number(1)};
  Context passing{pool, ctr_, key_number(2)};
  ASSERT_TRUE(needed.use());
  ASSERT_TRUE(passing.use());  // later than the other
  pool.release(passing.handle);
  Context newcomer{pool, ecb_, key_number(3)};
  ASSERT_TRUE(newcomer.use());
  ASSERT_TRUE(needed.use());
  EXPECT_EQ(pool.counters().keys_loaded, 3U);
}

TEST_F(SessionPoolTest, ForgetsNoSessionBecauseThePoolWasFullOnce) {
  SessionPool pool(transport_, 1);
  Context context{pool, cbc_, key_number(1)};
  ASSERT_TRUE(context.use());
  Context copy{pool, cbc_, context.key, Direction::encrypt, pool.share(context.handle)};
  {
    SessionPool::Lease lease;
    ASSERT_TRUE(context.borrow(lease));
    EXPECT_EQ(copy.use().failure, Failure::pool_exhausted);
  }
  pool.release(context.handle);
  ASSERT_TRUE(copy.use());
  EXPECT_EQ(pool.counters().keys_loaded, 1U);
}

TEST_F(SessionPoolTest, LeavesToOldHandlesNothingOfASessionThatWasRekeyed) {
  SessionPool pool(transport_, 1);
  Context old{pool, cbc_, key_number(1)};
  ASSERT_TRUE(old.use());
  Context copies[3] = {{pool, cbc_, old.key, Direction::encrypt, pool.share(old.handle)},
                       {pool, cbc_, old.key, Direction::encrypt, pool.share(old.handle)},
                       {pool, cbc_, old.key, Direction::encrypt, pool.share(old.handle)}};
  Context other{pool, cbc_, key_number(2)};
  ASSERT_TRUE(other.use());
  EXPECT_EQ(pool.counters().keys_loaded, 2U);
  // One of the old contexts takes the session again. The new owner, its only user, is then the one
  // with an old handle: neither its release nor the old ones' may end what the first has.
  ASSERT_TRUE(copies[0].use());
  pool.release(other.handle);
  pool.release(copies[1].handle);
  pool.release(old.handle);
  ASSERT_TRUE(copies[0].use());
  EXPECT_EQ(pool.counters().keys_loaded, 3U);
  // The key is found again by itself.
  ASSERT_TRUE(copies[2].use());
  pool.release(copies[0].handle);
  ASSERT_TRUE(copies[2].use());
  EXPECT_EQ(pool.counters().keys_loaded, 3U);
}

TEST_F(SessionPoolTest, FailsRatherThanWaitsWhenEverySessionIsInUse) {
  SessionPool pool(transport_, 2);
  Context a{pool, cbc_, key_number(1)};
  Context b{pool, cbc_, key_number(2)};
  Context c{pool, cbc_, key_number(3)};
  SessionPool::Lease lease_a;
  SessionPool::Lease lease_b;
  ASSERT_TRUE(a.borrow(lease_a));
  ASSERT_TRUE(b.borrow(lease_b));
  EXPECT_EQ(c.use().failure, Failure::pool_exhausted);
  EXPECT_EQ(a.use().failure, Failure::pool_exhausted);
  lease_b.end();
  EXPECT_TRUE(c.use());
}

TEST_F(SessionPoolTest, GivesASecondUserOfABorrowedSessionAnother) {
  SessionPool pool(transport_, 4);
  Context context{pool, cbc_, key_number(1)};
  ASSERT_TRUE(context.use());
  Context twin{pool, cbc_, context.key, Direction::encrypt, pool.share(context.handle)};
  SessionPool::Lease first;
  SessionPool::Lease second;
  ASSERT_TRUE(context.borrow(first));
  ASSERT_TRUE(twin.borrow(second));
  EXPECT_NE(&first.session(), &second.session());
  EXPECT_EQ(pool.counters().keys_loaded, 2U);
}

TEST_F(SessionPoolTest, SharesTheSessionOfADuplicatedContext) {
  SessionPool pool(transport_, 64);
  Context context{pool, cbc_, key_number(1)};
  ASSERT_TRUE(context.use());
  Context copy{pool, cbc_, context.key, Direction::encrypt, pool.share(context.handle)};
  pool.release(context.handle);
  ASSERT_TRUE(copy.use());
  EXPECT_EQ(pool.counters().keys_loaded, 1U);
}

TEST_F(SessionPoolTest, ForgetsAKeyWithItsLastUser) {
  SessionPool pool(transport_, 64);
  Context context{pool, cbc_, key_number(1)};
  ASSERT_TRUE(context.use());
  Context copy{pool, cbc_, context.key, Direction::encrypt, pool.share(context.handle)};
  pool.release(context.handle);
  pool.release(copy.handle);
  // Nobody can find the session by its key now; the next key goes into it.
  ASSERT_TRUE(copy.use());
  EXPECT_EQ(pool.counters().keys_loaded, 2U);
  EXPECT_EQ(pool.counters().sessions_opened, 1U);
}

TEST_F(SessionPoolTest, TakesAReleasedHandleForNone) {
  SessionPool pool(transport_, 64);
  Context context{pool, cbc_, key_number(1)};
  ASSERT_TRUE(context.use());
  pool.release(context.handle);
  EXPECT_EQ(context.handle.key_load, 0U);
  pool.release(context.handle);
  EXPECT_EQ(pool.share(context.handle).key_load, 0U);
}

TEST_F(SessionPoolTest, IsNotConfusedByTheHandleOfASessionThatWentToSomeoneElse) {
  SessionPool pool(transport_, 1);
  Context old{pool, cbc_, key_number(1)};
  ASSERT_TRUE(old.use());
  Context copy{pool, cbc_, old.key, Direction::encrypt, pool.share(old.handle)};
  Context other{pool, cbc_, key_number(2)};
  ASSERT_TRUE(other.use());
  EXPECT_EQ(pool.share(old.handle).key_load, 0U);
  pool.release(old.handle);
  pool.release(copy.handle);
  // The release of the old handles must not have taken the key from its new owner.
  ASSERT_TRUE(other.use());
  EXPECT_EQ(pool.counters().keys_loaded, 2U);
}

TEST_F(SessionPoolTest, DestroysASessionThatFailed) {
  SessionPool pool(transport_, 64);
  Context context{pool, cbc_, key_number(1)};
  {
    SessionPool::Lease lease;
    ASSERT_TRUE(context.borrow(lease));
    lease.discard();
  }
  EXPECT_EQ(transport_.open_sessions(), 0U);
  ASSERT_TRUE(context.use());
  EXPECT_EQ(pool.counters().sessions_opened, 2U);
}

TEST_F(SessionPoolTest, OpensANewTransformWhenAnOldOneRefusesTheKey) {
  SessionPool pool(transport_, 1);
  Context first{pool, cbc_, key_number(1)};
  Context second{pool, cbc_, key_number(2)};
  ASSERT_TRUE(first.use());
  transport_.fail(Step::set_key, Failure::busy);
  ASSERT_TRUE(second.use());
  EXPECT_EQ(pool.counters().sessions_opened, 2U);
  EXPECT_EQ(transport_.open_sessions(), 1U);
}

TEST_F(SessionPoolTest, PassesOnWhyASessionCouldNotBeHadAndTriesAgain) {
  SessionPool pool(transport_, 4);
  Context context{pool, cbc_, key_number(1)};
  transport_.fail(Step::open, Failure::no_descriptors);
  EXPECT_EQ(context.use().failure, Failure::no_descriptors);
  transport_.fail(Step::set_key, Failure::bad_key);
  EXPECT_EQ(context.use().failure, Failure::bad_key);
  EXPECT_EQ(pool.counters().keys_loaded, 0U);
  EXPECT_EQ(transport_.open_sessions(), 0U);
  EXPECT_TRUE(context.use());
}

TEST_F(SessionPoolTest, HoldsItsLimitToWhatIsAllowed) {
  SessionPool none(transport_, 0);
  Context context{none, cbc_, key_number(1)};
  EXPECT_TRUE(context.use());
}

TEST_F(SessionPoolTest, ClosesEverythingWithThePool) {
  {
    SessionPool pool(transport_, 64);
    for (std::uint32_t i = 0; i < 10; ++i) {
      Context context{pool, cbc_, key_number(i)};
      ASSERT_TRUE(context.use());
    }
    EXPECT_EQ(transport_.open_sessions(), 10U);
  }
  EXPECT_EQ(transport_.open_sessions(), 0U);
}

TEST_F(SessionPoolTest, LoadsNoKeyAgainBecauseSomeoneElseLooks) {
  SessionPool pool(transport_, 1);  // so that who looks takes this session each time
  Context context{pool, cbc_, key_number(1)};
  ASSERT_TRUE(context.use());
  std::atomic<int> looks{0};
  std::atomic<bool> done{false};
  std::thread onlooker([&] {
    for (; !done.load(); ++looks) (void)pool.counters();
  });
  while (looks.load() < 20'000) EXPECT_TRUE(context.use());
  done.store(true);
  onlooker.join();
  EXPECT_EQ(pool.counters().keys_loaded, 1U);
}

// One thread's call of this kind takes as long as it likes; the others go on, with keys of their
// own and with those that have to be loaded.
void expect_others_not_to_wait(testing::FakeTransport& transport, BoundDriver& driver, Step slow) {
  using namespace std::chrono_literals;
  constexpr auto long_enough = 30s;  // only a test that fails takes it
  SessionPool pool(transport, 4);
  Context slow_one{pool, driver, key_number(0)};
  const auto request = [&](Context& context) {
    const Bytes input(32, 0x33);
    Bytes output(input.size());
    return bool(run_cipher(pool, context.handle,
                           {driver, Direction::encrypt, context.key, nullptr, input.data(),
                            output.data(), input.size()})
                    .status);
  };
  transport.hold_next(slow);
  auto held = std::async(std::launch::async, [&] { return request(slow_one); });
  ASSERT_TRUE(transport.wait_until_held(long_enough));
  auto others = std::async(std::launch::async, [&] {
    bool all = true;
    // More keys than sessions, so that sessions are found, opened, re-keyed and given up.
    for (std::uint32_t i = 1; i <= 8; ++i) {
      Context context{pool, driver, key_number(i)};
      all = request(context) && request(context) && all;
      SessionPool::Handle copy = pool.share(context.handle);
      if (i % 2 == 0) pool.release(context.handle);
      pool.release(copy);
      all = pool.counters().sessions_open <= 4 && all;
    }
    return all;
  });
  const bool went_on = others.wait_for(long_enough) == std::future_status::ready;
  const bool still_held = held.wait_for(0s) == std::future_status::timeout;
  transport.let_go();
  EXPECT_TRUE(went_on) << "they waited for another thread's call";
  EXPECT_TRUE(still_held);
  EXPECT_TRUE(others.get());
  EXPECT_TRUE(held.get());
}

TEST_F(SessionPoolTest, LetsNobodyWaitForAnotherThreadsRequest) {
  expect_others_not_to_wait(transport_, ecb_, Step::crypt);
}

TEST_F(SessionPoolTest, LetsNobodyWaitForAnotherThreadsKey) {
  expect_others_not_to_wait(transport_, ecb_, Step::set_key);
}

TEST_F(SessionPoolTest, LetsNobodyWaitForAnotherThreadsSessionToOpen) {
  expect_others_not_to_wait(transport_, ecb_, Step::open);
}

TEST_F(SessionPoolTest, LendsASessionToOneAtATime) {
  constexpr std::size_t thread_count = 4;
  SessionPool pool(transport_, thread_count);
  Context context{pool, ecb_, key_number(1)};
  ASSERT_TRUE(context.use());
  std::array<std::atomic<const Session*>, thread_count> in_use{};
  std::atomic<int> lent_twice{0};
  const auto work = [&](std::size_t thread) {
    Context mine{pool, ecb_, context.key};
    for (int i = 0; i < 5'000; ++i) {
      // Back to the session that all of them want, by handle.
      pool.release(mine.handle);
      mine.handle = pool.share(context.handle);
      SessionPool::Lease lease;
      if (!mine.borrow(lease)) continue;
      const Session* session = &lease.session();
      in_use[thread].store(session);
      std::this_thread::yield();  // a request takes its time
      for (std::size_t other = 0; other < thread_count; ++other) {
        if (other != thread && in_use[other].load() == session) ++lent_twice;
      }
      in_use[thread].store(nullptr);
    }
    pool.release(mine.handle);
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lent_twice.load(), 0);
}

TEST_F(SessionPoolTest, ServesManyThreadsAtOnce) {
  constexpr std::size_t thread_count = 16;
  constexpr std::uint32_t contexts_each = 20;
  SessionPool pool(transport_, 24);
  const auto library = testing::LibraryContext::with_default_provider();
  const Bytes input(160, 0x42);
  std::vector<Bytes> expected;
  for (std::uint32_t i = 0; i < 2 * contexts_each; ++i) {
    expected.push_back(
        reference(library, "AES-128-ECB", Direction::encrypt, key_number(i), nullptr, input));
  }
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> failed{0};
  const auto work = [&](std::uint32_t thread) {
    // Threads share half of their keys with their neighbours, so that sessions are contended for.
    const std::uint32_t first_key = thread % 2 * contexts_each / 2;
    std::vector<Context> contexts;
    for (std::uint32_t i = 0; i < contexts_each; ++i) {
      contexts.push_back({pool, ecb_, key_number(first_key + i)});
    }
    for (int round = 0; round < 10; ++round) {
      for (std::uint32_t i = 0; i < contexts_each; ++i) {
        Context& context = contexts[i];
        Bytes output(input.size());
        const CipherProgress progress = run_cipher(pool, context.handle,
                                                   {ecb_, Direction::encrypt, context.key, nullptr,
                                                    input.data(), output.data(), input.size()});
        if (!progress.status) ++failed;
        if (progress.status && output != expected[first_key + i]) ++wrong;
        if (i % 7 == 0) {
          SessionPool::Handle copy = pool.share(context.handle);
          pool.release(context.handle);
          context.handle = copy;
        }
      }
      (void)pool.counters();
    }
    for (Context& context : contexts) pool.release(context.handle);
  };
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(failed.load(), 0U);
  EXPECT_LE(transport_.most_open_sessions(), 24U);
}

}  // namespace
}  // namespace kaccel::kernel
