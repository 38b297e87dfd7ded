// Every algorithm in eight threads, with a fork every 10,000 operations: what kaccel gives is what
// OpenSSL's software gives, and the process holds at the end what it held after the first part.
//
//   KACCEL_TEST_SOAK_OPERATIONS=N   of all threads together (default 1,000,000); 10,000,000 is the
//                                   full length (docs/soak.md)
//   KACCEL_TEST_SEED=N              other sequences

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "provider/embed.hpp"
#include "tests/soak/footprint.hpp"
#include "tests/soak/software_transport.hpp"
#include "tests/soak/worker.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

constexpr std::uint32_t thread_count = 8;
constexpr std::uint32_t parts = 8;
constexpr std::size_t threshold = 512;
constexpr std::size_t sessions = 24;  // fewer than the contexts: they take them from each other
constexpr std::uint64_t fork_every = 10'000;
constexpr std::uint64_t one_request_in = 2'003;  // fails, without a kernel

// After the first part all sessions are open, and what OpenSSL caches is there. From then on what
// malloc has handed out moves by a few KiB, as the keys and buffers of the sessions do. Resident
// memory also has what malloc keeps free for the threads of a part, and buffers of sessions that
// are longer at one time than at another: 32 KiB each.
constexpr std::size_t heap_growth = std::size_t{64} << 10;
constexpr std::size_t resident_growth = std::size_t{4} << 20;

LibraryContext loaded(kernel::Transport& drivers) {
  Settings settings = settings_with_thresholds(threshold, threshold);
  settings.max_sessions = sessions;
  LibraryContextPointer context(OSSL_LIB_CTX_new());
  ProviderPointer provider(
      load_embedded(context.get(), settings, on_real_kernel() ? nullptr : &drivers));
  if (provider == nullptr) throw std::runtime_error("kaccel does not load");
  return {std::move(context), std::move(provider)};
}

// Software to compare with. Single DES is OpenSSL's legacy provider's.
struct Software {
  LibraryContext modern = LibraryContext::with_default_provider();
  std::optional<LibraryContext> legacy;
};

std::vector<PairMaker> makers(const LibraryContext& kaccel, Software& software) {
  if (has_legacy_provider()) software.legacy = LibraryContext::with_legacy_provider();
  std::vector<PairMaker> all;
  for (const Algorithm& row : algorithm_table) {
    const bool single_des = row.key_size == 8;
    if (!single_des) {
      all.emplace_back(kaccel, software.modern, row.name);
    } else if (software.legacy && has_hardware(row.name)) {
      all.emplace_back(kaccel, *software.legacy, row.name);
    }
  }
  return all;
}

// Returns what went wrong, one line a thread.
std::vector<std::string> run_threads(Soak& soak, std::uint32_t seed) {
  std::mutex mutex;
  std::vector<std::string> differences;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      const std::string difference = Worker(soak, seed + i).run();
      const std::lock_guard lock(mutex);
      if (!difference.empty()) differences.push_back(difference);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return differences;
}

TEST(Soak, IsRightAndLeavesNothingBehind) {
  SoftwareTransport drivers(one_request_in);
  const LibraryContext kaccel = loaded(drivers);
  Software software;
  const std::vector<PairMaker> all = makers(kaccel, software);
  const auto counter = [&](const char* name) { return provider_counter(kaccel.provider(), name); };
  // Without those of sessions, which come and go.
  const auto descriptors = [&](const Footprint& now) {
    return now.descriptors - counter("sessions-open") *
                                 (on_real_kernel() ? 2 : SoftwareTransport::descriptors_a_session);
  };
  const std::uint64_t operations =
      number_from_environment("KACCEL_TEST_SOAK_OPERATIONS", 1'000'000);
  const auto seed = static_cast<std::uint32_t>(number_from_environment("KACCEL_TEST_SEED", 1));

  Soak soak{all, threshold, fork_every};
  Footprint first;
  std::size_t first_descriptors = 0;
  for (std::uint32_t part = 1; part <= parts; ++part) {
    soak.done = std::min<std::uint64_t>(soak.done, soak.operations);
    soak.operations = operations * part / parts;
    ASSERT_EQ(run_threads(soak, seed * 1'000 + part * thread_count), std::vector<std::string>{});
    const Footprint now = footprint();
    std::cout << "soak: " << soak.operations << " operations, " << soak.forks << " forks, "
              << counter("hardware-calls") << " hardware calls, " << counter("fallbacks")
              << " fallbacks, " << counter("keys-loaded") << " keys loaded, "
              << counter("sessions-opened") << " sessions opened; " << to_text(now) << '\n';
    if (part == 1) {
      first = now;
      first_descriptors = descriptors(now);
    }
    EXPECT_EQ(descriptors(now), first_descriptors);
    if (under_a_sanitizer()) continue;
    EXPECT_LE(now.heap, first.heap + heap_growth);
    EXPECT_LE(now.resident, first.resident + resident_growth);
  }
  EXPECT_EQ(soak.forks, operations / fork_every);
  EXPECT_GT(counter("hardware-calls"), operations / 10);
  EXPECT_LE(counter("sessions-open"), sessions);
}

}  // namespace
}  // namespace kaccel::testing
