// Sixteen threads with a thousand contexts each, on one pool.
//
//   KACCEL_TEST_LOAD_ROUNDS=N   uses of each context (default 3)
//   KACCEL_TEST_CONTEXTS=N      contexts of each thread (default 1000)
//   KACCEL_TEST_SEED=N          other sequences

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/load/alg_sockets.hpp"
#include "tests/support/context_pair.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

constexpr std::size_t thread_count = 16;
constexpr std::size_t threshold = 512;
constexpr std::size_t largest = 4096;

constexpr std::array algorithms{"AES-128-CBC", "AES-256-CBC", "AES-128-CTR",  "AES-256-ECB",
                                "AES-256-XTS", "AES-128-GCM", "DES-EDE3-CBC", "HMAC-SHA256"};

// What one thread does with its contexts.
class Worker {
 public:
  Worker(const std::vector<PairMaker>& makers, std::uint32_t thread)
      : makers_(makers),
        thread_(thread),
        random_(static_cast<std::uint32_t>(number_from_environment("KACCEL_TEST_SEED", 1)) *
                    1'000'003U +
                thread),
        data_(2 * largest) {
    std::generate(data_.begin(), data_.end(),
                  [this] { return static_cast<std::uint8_t>(random_()); });
  }

  // "" or the first difference.
  std::string run() {
    const std::uint64_t count = number_from_environment("KACCEL_TEST_CONTEXTS", 1000);
    const std::uint64_t rounds = number_from_environment("KACCEL_TEST_LOAD_ROUNDS", 3);
    while (contexts_.size() < count) {
      contexts_.push_back(made());
      use(contexts_.back());
    }
    for (std::uint64_t i = 0; i < (rounds - 1) * count && difference_.empty(); ++i) step();
    return difference_;
  }

 private:
  struct Entry {
    std::unique_ptr<ContextPair> pair;
    std::uint64_t key;
    bool encrypt;
  };

  std::size_t below(std::size_t limit) { return random_() % limit; }

  // A quarter of all keys are every thread's, so that sessions are contended for.
  std::uint64_t some_key() {
    return below(4) == 0 ? below(8) : (std::uint64_t{thread_} + 1) * 1'000'000 + ++keys_;
  }

  std::size_t some_size() {
    const std::size_t dice = below(10);
    if (dice < 5) return threshold - 48 + below(96);
    if (dice < 8) return 16 * (1 + below(largest / 16));
    return 16 + below(threshold);
  }

  Entry made() {
    Entry entry{makers_[below(makers_.size())].make(), 0, false};
    init(entry, some_key(), below(2) == 0);
    return entry;
  }

  void init(Entry& entry, std::uint64_t key, bool encrypt) {
    entry.key = key;
    entry.encrypt = encrypt;
    note(entry.pair->init(key, encrypt));
  }

  void use(Entry& entry) {
    note(entry.pair->use({data_.data() + below(data_.size() - largest), some_size()}));
  }

  void step() {
    const std::size_t dice = below(100);
    Entry& entry = contexts_[below(contexts_.size())];
    if (dice < 5) {
      init(entry, entry.key, entry.encrypt);
    } else if (dice < 8) {
      init(entry, entry.key, !entry.encrypt);
    } else if (dice < 12) {
      init(entry, some_key(), below(2) == 0);
    } else if (dice < 17) {
      Entry copy{entry.pair->duplicate(), entry.key, entry.encrypt};
      if (copy.pair == nullptr) return note("a context cannot be duplicated");
      use(copy);
      std::swap(contexts_[below(contexts_.size())], copy);  // and frees the one that was there
      return;
    } else if (dice < 22) {
      entry = made();
    }
    use(entry);
  }

  void note(const std::string& difference) {
    if (difference_.empty()) difference_ = difference;
  }

  const std::vector<PairMaker>& makers_;
  const std::uint32_t thread_;
  std::mt19937 random_;
  Bytes data_;
  std::vector<Entry> contexts_;
  std::uint64_t keys_ = 0;
  std::string difference_;
};

class ThreadsOverSessions : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ThreadsOverSessions, GetRightBytes) {
  Settings settings = settings_with_thresholds(threshold, threshold);
  settings.max_sessions = GetParam();
  const KaccelUnderTest kaccel(settings);
  const LibraryContext reference = LibraryContext::with_default_provider();
  std::vector<PairMaker> makers;
  for (const char* algorithm : algorithms) {
    makers.emplace_back(kaccel.library(), reference, algorithm);
  }

  std::mutex mutex;
  std::vector<std::string> differences;
  std::size_t most_sockets = 0;
  const auto work = [&](std::uint32_t thread) {
    const std::string difference = Worker(makers, thread).run();
    const std::size_t sockets = count_alg_sockets();
    const std::lock_guard lock(mutex);
    most_sockets = std::max(most_sockets, sockets);
    if (!difference.empty()) {
      differences.push_back("thread " + std::to_string(thread) + ": " + difference);
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(differences, std::vector<std::string>{});
  EXPECT_GT(kaccel.counter("hardware-calls"), 0U);
  EXPECT_LE(kaccel.counter("sessions-open"), GetParam());
  EXPECT_LE(most_sockets, 2 * GetParam());
  // With fewer sessions than threads a call may find none free, and is software's.
  if (GetParam() >= thread_count) {
    EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
  }
  if (kaccel.fake() != nullptr) {
    EXPECT_LE(kaccel.fake()->most_open_sessions(), GetParam());
    EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ThreadsOverSessions, ::testing::Values(64U, 8U),
                         [](const auto& row) { return std::to_string(row.param); });

}  // namespace
}  // namespace kaccel::testing
