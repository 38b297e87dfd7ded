// kaccel against the default provider on random sequences of calls.
//
//   KACCEL_TEST_SEED=N     other sequences (printed at a difference)
//   KACCEL_TEST_ROUNDS=N   sequences for each algorithm and pair of thresholds

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/random_sequence.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel {

// What a failing test's log shows of its parameter.
void PrintTo(const Algorithm& algorithm, std::ostream* out) {
  *out << algorithm.name;
}

}  // namespace kaccel

namespace kaccel::testing {
namespace {

struct Thresholds {
  Threshold encrypt;
  Threshold decrypt;
};
constexpr std::array threshold_pairs{
    Thresholds{0, 0},   Thresholds{1, 1},    Thresholds{16, 16}, Thresholds{512, 512},
    Thresholds{-1, -1}, Thresholds{0, 512},  Thresholds{512, 0}, Thresholds{-1, 0},
    Thresholds{16, -1}, Thresholds{1, 1424},
};

std::uint32_t base_seed() {
  return static_cast<std::uint32_t>(number_from_environment("KACCEL_TEST_SEED", 1));
}

std::string to_text(const Thresholds& t) {
  return std::to_string(t.encrypt) + " (encrypt), " + std::to_string(t.decrypt) + " (decrypt)";
}

// Seeds of neighbouring rounds must not repeat each other's sequences.
std::uint32_t seed_of(std::size_t algorithm, std::size_t thresholds, std::uint64_t round) {
  const auto number = (algorithm * 100 + thresholds) * 1'000'000 + round;
  return base_seed() * 2'654'435'761U + static_cast<std::uint32_t>(number);
}

class Differential : public ::testing::TestWithParam<Algorithm> {
 protected:
  static bool is_single_des() { return GetParam().key_size == 8; }
  std::size_t row() const { return find_algorithm(GetParam().name); }

  // "" or the first difference of one sequence.
  std::string run(const KaccelUnderTest& kaccel, const Thresholds& thresholds, std::uint32_t seed) {
    const CipherPointer reference = fetch_cipher(reference_, GetParam().name);
    const CipherPointer subject = fetch_cipher(kaccel.library(), GetParam().name);
    if (reference == nullptr || subject == nullptr) return "the cipher cannot be fetched";
    const std::string difference =
        RandomSequence({reference.get(), subject.get(), thresholds.encrypt, thresholds.decrypt},
                       seed)
            .run();
    return difference.empty()
               ? difference
               : "thresholds " + to_text(thresholds) + ", seed " + std::to_string(seed) +
                     " of KACCEL_TEST_SEED=" + std::to_string(base_seed()) + ": " + difference;
  }

 private:
  const LibraryContext reference_ = is_single_des() ? LibraryContext::with_legacy_provider()
                                                    : LibraryContext::with_default_provider();
};

TEST_P(Differential, DoesWhatTheDefaultProviderDoes) {
  // A power of two below a page shows the most of splitting; the last is a socket's real limit.
  constexpr std::array<std::size_t, 4> max_requests{32, 4096, 65536, 212992};
  const std::uint64_t rounds = number_from_environment("KACCEL_TEST_ROUNDS", 150);
  for (std::size_t pair = 0; pair < threshold_pairs.size(); ++pair) {
    const Thresholds& thresholds = threshold_pairs[pair];
    // Single DES is offered only where it has a route.
    if (is_single_des() && thresholds.encrypt < 0 && thresholds.decrypt < 0) continue;
    const KaccelUnderTest kaccel(settings_with_thresholds(thresholds.encrypt, thresholds.decrypt));
    for (std::uint64_t round = 0; round < rounds; ++round) {
      if (kaccel.fake() != nullptr) {
        kaccel.fake()->set_max_request(max_requests[round % max_requests.size()]);
      }
      ASSERT_EQ(run(kaccel, thresholds, seed_of(row(), pair, round)), "");
    }
    // Without these the comparison could pass on software against software.
    const bool expected =
        has_hardware(GetParam().name) && (thresholds.encrypt >= 0 || thresholds.decrypt >= 0);
    EXPECT_EQ(kaccel.counter("hardware-calls") > 0, expected) << to_text(thresholds);
    EXPECT_EQ(kaccel.counter("fallbacks"), 0U) << to_text(thresholds);
    if (kaccel.fake() != nullptr) {
      EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
    }
  }
}

TEST_P(Differential, KeepsTheDriversRestrictions) {
  if (on_real_kernel()) GTEST_SKIP() << "the fake transport alone can tell";
  Settings settings = settings_with_thresholds(0, 0);
  const kernel::Restrictions restrictions{
      .min_size = 17, .max_size = 1504, .multiple_above = 256, .size_multiple = 32};
  for (AlgorithmSettings& algorithm : settings.algorithms) algorithm.restrictions = restrictions;
  const KaccelUnderTest kaccel(settings);
  kaccel.fake()->set_restrictions(restrictions);
  const std::uint64_t rounds = number_from_environment("KACCEL_TEST_ROUNDS", 150);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    kaccel.fake()->set_max_request(round % 2 == 0 ? 1024 : 4096);
    ASSERT_EQ(run(kaccel, {0, 0}, seed_of(row(), 50, round)), "");
  }
  EXPECT_GT(kaccel.counter("hardware-calls"), 0U);
  EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
}

TEST_P(Differential, DoesItWhateverTheDriverFails) {
  if (on_real_kernel()) GTEST_SKIP() << "needs faults on demand";
  const std::uint64_t rounds = number_from_environment("KACCEL_TEST_ROUNDS", 150);
  std::uint64_t fallbacks = 0;
  std::uint64_t hardware_calls = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const Thresholds& thresholds = threshold_pairs[round % 4];
    const std::uint32_t seed = seed_of(row(), 60, round);
    // A new one each time, since a driver that fails often is taken out for good.
    const KaccelUnderTest kaccel(settings_with_thresholds(thresholds.encrypt, thresholds.decrypt));
    kaccel.fake()->set_max_request(round % 3 == 0 ? 4096 : 64);
    kaccel.fake()->fail_randomly(seed, 5 + static_cast<std::uint32_t>(round % 20));
    ASSERT_EQ(run(kaccel, thresholds, seed), "");
    ASSERT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
    fallbacks += kaccel.counter("fallbacks");
    hardware_calls += kaccel.counter("hardware-calls");
  }
  EXPECT_GT(fallbacks, 0U);
  EXPECT_GT(hardware_calls, 0U);
}

// What has a sequence of its own in tests/fuzz is not repeated here.
std::vector<Algorithm> block_ciphers() {
  std::vector<Algorithm> rows;
  const bool legacy = has_legacy_provider();
  for (const Algorithm& row : algorithm_table) {
    const bool needs_legacy = row.key_size == 8;
    if (row.kind == Kind::blocks && (legacy || !needs_legacy)) rows.push_back(row);
  }
  return rows;
}

std::string test_name(const ::testing::TestParamInfo<Algorithm>& info) {
  std::string name;
  for (const char c : std::string_view(info.param.name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, Differential, ::testing::ValuesIn(block_ciphers()), test_name);

}  // namespace
}  // namespace kaccel::testing
