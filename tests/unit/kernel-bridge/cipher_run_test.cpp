#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/kernel-bridge/pool_fixture.hpp"

namespace kaccel::kernel {
namespace {

using Step = testing::FakeTransport::Step;
using Iv = std::array<std::uint8_t, 16>;

class CipherRunTest : public PoolTest {
 protected:
  CipherRunTest()
      : pool_(transport_, 8), library_(testing::LibraryContext::with_default_provider()) {}

  static Bytes data(std::size_t size) {
    Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
    return bytes;
  }

  CipherProgress run(BoundDriver& driver, Direction direction, Iv& iv, const std::uint8_t* input,
                     std::uint8_t* output, std::size_t size) {
    SessionPool::Handle handle;
    const CipherProgress progress =
        run_cipher(pool_, handle, {driver, direction, key_, iv.data(), input, output, size});
    pool_.release(handle);
    return progress;
  }

  // Runs so many bytes through `driver` and returns the requests it took.
  std::vector<std::size_t> requests_for(BoundDriver& driver, std::size_t size) {
    const std::size_t before = transport_.request_sizes().size();
    const Bytes input = data(size);
    Bytes output(size);
    Iv iv{};
    const CipherProgress progress =
        run(driver, Direction::encrypt, iv, input.data(), output.data(), size);
    EXPECT_TRUE(progress.status);
    EXPECT_EQ(progress.done, size);
    std::vector<std::size_t> sizes = transport_.request_sizes();
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(before));
    return sizes;
  }

  using Sizes = std::vector<std::size_t>;

  SessionPool pool_;
  const testing::LibraryContext library_;
  const Bytes key_ = key_number(7);
};

TEST_F(CipherRunTest, SplitsAtWhatARequestMayCarry) {
  transport_.set_max_request(64);
  EXPECT_EQ(requests_for(cbc_, 64), (Sizes{64}));
  EXPECT_EQ(requests_for(cbc_, 160), (Sizes{64, 64, 32}));
}

TEST_F(CipherRunTest, SplitsAtBlocksWhereTheLimitIsNone) {
  transport_.set_max_request(71);
  EXPECT_EQ(requests_for(cbc_, 160), (Sizes{64, 64, 32}));
}

TEST_F(CipherRunTest, SplitsAtTheDriversLimit) {
  cbc_.restrictions.max_size = 48;
  EXPECT_EQ(requests_for(cbc_, 112), (Sizes{48, 48, 16}));
}

TEST_F(CipherRunTest, LeavesNoRestThatTheDriverMustNotSee) {
  cbc_.restrictions.min_size = 17;
  transport_.set_restrictions(cbc_.restrictions);
  transport_.set_max_request(64);
  EXPECT_EQ(requests_for(cbc_, 80), (Sizes{48, 32}));
  EXPECT_EQ(requests_for(cbc_, 144), (Sizes{64, 48, 32}));
  EXPECT_EQ(requests_for(cbc_, 160), (Sizes{64, 64, 32}));
}

TEST_F(CipherRunTest, SplitsInMultiplesWhereTheDriverWantsThem) {
  cbc_.restrictions = {.max_size = 112, .multiple_above = 48, .size_multiple = 48};
  transport_.set_restrictions(cbc_.restrictions);
  EXPECT_EQ(requests_for(cbc_, 240), (Sizes{96, 96, 48}));
  cbc_.restrictions = {.min_size = 64, .max_size = 144, .multiple_above = 32, .size_multiple = 24};
  transport_.set_restrictions(cbc_.restrictions);
  EXPECT_EQ(requests_for(cbc_, 192), (Sizes{96, 96}));
}

TEST_F(CipherRunTest, AsksForNothingWhereNoMultipleFitsIntoARequest) {
  cbc_.restrictions = {.max_size = 256, .multiple_above = 16, .size_multiple = 512};
  const Bytes input = data(1024);
  Bytes output(input.size());
  Iv iv{};
  EXPECT_EQ(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), input.size()).done, 0U);
  EXPECT_TRUE(transport_.request_sizes().empty());
}

TEST_F(CipherRunTest, IsAsOneCallHoweverItIsSplit) {
  transport_.set_max_request(48);
  struct Case {
    BoundDriver& driver;
    const char* name;
  };
  for (const Case& each :
       {Case{ecb_, "AES-128-ECB"}, Case{cbc_, "AES-128-CBC"}, Case{ctr_, "AES-128-CTR"}}) {
    for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
      const Bytes input = data(400);
      Bytes output(input.size());
      Iv iv{9, 8, 7};
      const Iv first = iv;
      ASSERT_TRUE(
          run(each.driver, direction, iv, input.data(), output.data(), input.size()).status);
      EXPECT_EQ(output, reference(library_, each.name, direction, key_, first.data(), input))
          << each.name;
    }
  }
}

TEST_F(CipherRunTest, AdvancesTheIvOfCbcToTheLastCiphertextBlock) {
  const Bytes input = data(64);
  Bytes output(input.size());
  Iv iv{};
  ASSERT_TRUE(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), input.size()).status);
  EXPECT_TRUE(std::equal(iv.begin(), iv.end(), output.end() - 16));
  ASSERT_TRUE(run(cbc_, Direction::decrypt, iv, input.data(), output.data(), input.size()).status);
  EXPECT_TRUE(std::equal(iv.begin(), iv.end(), input.end() - 16));
  // In place the ciphertext is gone by the time the call returns.
  Bytes memory = input;
  ASSERT_TRUE(run(cbc_, Direction::decrypt, iv, memory.data(), memory.data(), input.size()).status);
  EXPECT_TRUE(std::equal(iv.begin(), iv.end(), input.end() - 16));
}

TEST_F(CipherRunTest, WrapsTheCounterAtItsWholeWidth) {
  transport_.set_max_request(32);
  const Bytes input = data(96);
  Bytes output(input.size());
  Iv iv;
  iv.fill(0xff);
  iv[15] = 0xfd;
  const Iv first = iv;
  ASSERT_TRUE(run(ctr_, Direction::encrypt, iv, input.data(), output.data(), input.size()).status);
  EXPECT_EQ(output,
            reference(library_, "AES-128-CTR", Direction::encrypt, key_, first.data(), input));
  Iv expected{};
  expected[15] = 3;  // ...fd + 6 blocks
  EXPECT_EQ(iv, expected);
}

TEST_F(CipherRunTest, CarriesTheCounterAcrossThirtyTwoBits) {
  const Bytes input = data(64);
  Bytes output(input.size());
  Iv iv{};
  std::fill(iv.begin() + 8, iv.end(), std::uint8_t{0xff});
  ASSERT_TRUE(run(ctr_, Direction::encrypt, iv, input.data(), output.data(), input.size()).status);
  Iv expected{};
  expected[7] = 1;
  expected[15] = 3;
  EXPECT_EQ(iv, expected);
}

TEST_F(CipherRunTest, WorksInPlaceAndWithOutputBeforeInput) {
  transport_.set_max_request(48);
  for (const std::size_t distance : std::initializer_list<std::size_t>{0, 5, 16, 47}) {
    const Bytes input = data(400);
    Bytes memory(distance + input.size());
    std::copy(input.begin(), input.end(), memory.begin() + static_cast<std::ptrdiff_t>(distance));
    Iv iv{1};
    const Iv first = iv;
    ASSERT_TRUE(
        run(cbc_, Direction::encrypt, iv, memory.data() + distance, memory.data(), input.size())
            .status);
    memory.resize(input.size());
    EXPECT_EQ(memory,
              reference(library_, "AES-128-CBC", Direction::encrypt, key_, first.data(), input));
  }
}

TEST_F(CipherRunTest, LeavesTheInputOfAFailedRequestUntouched) {
  transport_.set_max_request(64);
  transport_.fail(Step::crypt, Failure::driver_error, 2);
  const Bytes input = data(192);
  Bytes memory = input;
  Iv iv{};
  const Iv first = iv;
  const CipherProgress progress =
      run(cbc_, Direction::encrypt, iv, memory.data(), memory.data(), input.size());
  EXPECT_EQ(progress.status.failure, Failure::driver_error);
  ASSERT_EQ(progress.done, 64U);
  EXPECT_TRUE(std::equal(memory.begin() + 64, memory.end(), input.begin() + 64));
  // Software can go on from there.
  Bytes rest(input.begin() + 64, input.end());
  rest = reference(library_, "AES-128-CBC", Direction::encrypt, key_, iv.data(), rest);
  std::copy(rest.begin(), rest.end(), memory.begin() + 64);
  EXPECT_EQ(memory,
            reference(library_, "AES-128-CBC", Direction::encrypt, key_, first.data(), input));
}

TEST_F(CipherRunTest, LeavesTheIvAloneWhenNothingWasDone) {
  for (const Step step : {Step::open, Step::set_key, Step::crypt}) {
    transport_.fail(step, Failure::no_memory);
    const Bytes input = data(64);
    Bytes memory = input;
    Iv iv{3, 1, 4};
    const Iv before = iv;
    cbc_.health.succeeded();
    const CipherProgress progress =
        run(cbc_, Direction::encrypt, iv, memory.data(), memory.data(), input.size());
    EXPECT_FALSE(progress.status);
    EXPECT_EQ(progress.done, 0U);
    EXPECT_EQ(iv, before);
    EXPECT_EQ(memory, input);
    while (!cbc_.health.may_try()) continue;
  }
}

TEST_F(CipherRunTest, DropsTheSessionThatFailed) {
  transport_.fail(Step::crypt, Failure::short_transfer);
  const Bytes input = data(64);
  Bytes output(64);
  Iv iv{};
  EXPECT_FALSE(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), 64).status);
  EXPECT_EQ(transport_.open_sessions(), 0U);
  EXPECT_TRUE(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), 64).status);
}

TEST_F(CipherRunTest, AsksADriverThatIsOutNoMore) {
  transport_.fail(Step::crypt, Failure::driver_error, 1, 100);
  const Bytes input = data(64);
  Bytes output(64);
  Iv iv{};
  for (std::uint32_t i = 0; i < DriverHealth::most_failures; ++i) {
    EXPECT_EQ(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), 64).status.failure,
              Failure::driver_error);
  }
  EXPECT_EQ(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), 64).status.failure,
            Failure::driver_taken_out);
  EXPECT_EQ(transport_.calls(Step::crypt), DriverHealth::most_failures);
}

TEST_F(CipherRunTest, EndsWhereNoRequestIsAllowed) {
  // Only a hand-written file can ask for it. The rest is the caller's to do in software.
  const Bytes input = data(64);
  Bytes output(64);
  Iv iv{};
  cbc_.restrictions.max_size = 8;
  transport_.set_restrictions(cbc_.restrictions);
  EXPECT_EQ(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), 64).done, 0U);

  cbc_.restrictions = {.min_size = 17, .max_size = 32};
  transport_.set_restrictions(cbc_.restrictions);
  EXPECT_EQ(run(cbc_, Direction::encrypt, iv, input.data(), output.data(), 48).done, 32U);
  EXPECT_TRUE(cbc_.health.may_try());
}

}  // namespace
}  // namespace kaccel::kernel
