// Threads cipher while another forks, and children go on without exec.
//
// On the real kernel alone: the fake transport's own lock could be held in a child for ever. So
// could those that OpenSSL fetches algorithms under; therefore all contexts are copies of some that
// were initialised before there were threads.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/life/child.hpp"
#include "tests/life/stream.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Call = Step::Call;

const std::vector<Script>& scripts() {
  static const std::vector<Script> all{
      {"Cbc",
       "AES-256-CBC",
       true,
       {{Call::init}, {Call::data, 21}, {Call::data, 8192}, {Call::data, 4096}, {Call::end}}},
      {"Gcm",
       "AES-128-GCM",
       true,
       {{Call::init}, {Call::aad, 9}, {Call::data, 4096}, {Call::data, 999}, {Call::end}}},
      {"Hmac",
       "HMAC-SHA256",
       true,
       {{Call::init}, {Call::data, 70}, {Call::data, 4096}, {Call::end}}},
  };
  return all;
}

TEST(ThreadsAndForks, GetRightBytesInEveryProcess) {
  if (!on_real_kernel()) GTEST_SKIP() << "the fake transport cannot be forked with threads";
  const KaccelUnderTest kaccel(settings_with_thresholds(64, 64));
  const LibraryContext reference = LibraryContext::with_default_provider();
  const Bytes input = test_bytes(16384, 5);
  const Bytes no_tag;
  std::vector<Bytes> expected;
  for (const Script& script : scripts()) {
    Stream software(reference, script, input, no_tag);
    ASSERT_EQ(software.run(0, script.steps.size()), "");
    expected.push_back(software.output());
  }
  // Each thread has its own to copy from, the main one too.
  using Originals = std::vector<std::unique_ptr<Stream>>;
  const auto make_originals = [&] {
    Originals originals;
    for (const Script& script : scripts()) {
      originals.push_back(std::make_unique<Stream>(kaccel.library(), script, input, no_tag));
      EXPECT_EQ(originals.back()->run(0, 1), "");
    }
    return originals;
  };
  const Originals originals = make_originals();
  const Originals of_threads = make_originals();

  // A stream from a stage on; "" or what was wrong.
  const auto go_on = [&](Stream& stream, std::size_t which, std::size_t from) {
    std::string failed = stream.run(from, scripts()[which].steps.size());
    if (!failed.empty()) return failed;
    return stream.output() == expected[which]
               ? std::string()
               : "wrong bytes of " + std::string(scripts()[which].algorithm);
  };

  std::atomic<bool> stop{false};
  std::atomic<unsigned> rounds{0};
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t which = 0; which < scripts().size(); ++which) {
    threads.emplace_back([&, which] {
      while (!stop) {
        const auto stream = of_threads[which]->duplicate();
        if (!go_on(*stream, which, 1).empty()) ++wrong;
        ++rounds;
      }
    });
  }
  constexpr std::size_t forks = 30;
  for (std::size_t i = 0; i < forks; ++i) {
    const std::size_t which = i % scripts().size();
    const std::size_t stage = 1 + i % scripts()[which].steps.size();
    const auto shared = originals[which]->duplicate();
    ASSERT_EQ(shared->run(1, stage), "");
    Child child([&](int) {
      if (std::string said = go_on(*shared, which, stage); !said.empty()) return said;
      // And threads of its own.
      std::atomic<unsigned> wrong_here{0};
      std::vector<std::thread> own;
      for (std::size_t other = 0; other < scripts().size(); ++other) {
        own.emplace_back([&, other] {
          const auto stream = originals[other]->duplicate();
          if (!go_on(*stream, other, 1).empty()) ++wrong_here;
        });
      }
      for (std::thread& thread : own) thread.join();
      return std::string(wrong_here == 0 ? "" : "wrong bytes in a child's thread");
    });
    EXPECT_EQ(go_on(*shared, which, stage), "");
    EXPECT_EQ(child.wait(), "");
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U) << "of " << rounds;
  EXPECT_GT(rounds, 0U);
  EXPECT_GT(kaccel.counter("hardware-calls"), forks);
}

}  // namespace
}  // namespace kaccel::testing
