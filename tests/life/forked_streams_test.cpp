// A process forks at every stage of a stream; parent, child and grandchild go on with the same
// context, and each gets what the default provider gives.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/life/child.hpp"
#include "tests/life/stream.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Call = Step::Call;

constexpr Threshold threshold = 256;

// Each begins with a small call, so that a partial block is there, and goes from software to
// hardware and back.
const std::vector<Script>& scripts() {
  static const std::vector<Step> blocks{{Call::init},       {Call::data, 5},    {Call::data, 16},
                                        {Call::data, 4096}, {Call::data, 100},  {Call::data, 2055},
                                        {Call::data, 1024}, {Call::data, 1024}, {Call::end}};
  static const std::vector<Step> units{{Call::init},       {Call::data, 512},  {Call::iv},
                                       {Call::data, 1024}, {Call::data, 2048}, {Call::iv},
                                       {Call::data, 33},   {Call::iv},         {Call::data, 4096}};
  static const std::vector<Step> seal{{Call::init},     {Call::aad, 20},    {Call::data, 1000},
                                      {Call::data, 33}, {Call::data, 4096}, {Call::data, 300},
                                      {Call::end},      {Call::get_tag}};
  // AAD of whole blocks, which needs no padding: no step towards hardware is refused for it.
  static const std::vector<Step> seal_small{{Call::init},      {Call::aad, 32},    {Call::data, 33},
                                            {Call::data, 512}, {Call::data, 1000}, {Call::end},
                                            {Call::get_tag}};
  static const std::vector<Step> open_early{{Call::init},       {Call::set_tag},   {Call::aad, 20},
                                            {Call::data, 2048}, {Call::data, 100}, {Call::end}};
  static const std::vector<Step> open_late{{Call::init},      {Call::aad, 20}, {Call::data, 2048},
                                           {Call::data, 100}, {Call::set_tag}, {Call::end}};
  static const std::vector<Step> mac{{Call::init},       {Call::data, 100}, {Call::data, 100},
                                     {Call::data, 4096}, {Call::data, 1},   {Call::end}};
  static const std::vector<Step> small_mac{
      {Call::init}, {Call::data, 100}, {Call::data, 50}, {Call::end}};
  // Beyond what is collected for hardware.
  static const std::vector<Step> long_mac{{Call::init},
                                          {Call::data, 1 << 19},
                                          {Call::data, (1 << 19) + 1},
                                          {Call::data, 70},
                                          {Call::end}};
  static const std::vector<Script> all{
      {"EncryptCbc", "AES-256-CBC", true, blocks},
      {"DecryptCbc", "AES-128-CBC", false, blocks},
      {"EncryptCtr", "AES-256-CTR", true, blocks},
      {"DecryptEcb", "AES-128-ECB", false, blocks},
      {"EncryptTripleDesCbc", "DES-EDE3-CBC", true, blocks},
      {"EncryptXts", "AES-256-XTS", true, units},
      {"DecryptXts", "AES-128-XTS", false, units},
      {"SealGcm", "AES-128-GCM", true, seal},
      {"SealGcmFromASmallUpdate", "AES-256-GCM", true, seal_small},
      {"OpenGcmWithTheTagBefore", "AES-256-GCM", false, open_early},
      {"OpenGcmWithTheTagAfter", "AES-128-GCM", false, open_late},
      {"Hmac", "HMAC-SHA256", true, mac},
      {"HmacWithinTheThreshold", "HMAC-SHA256", true, small_mac},
      {"HmacBeyondWhatIsCollected", "HMAC-SHA256", true, long_mac},
  };
  return all;
}

class ForkedStreams : public ::testing::TestWithParam<Script> {
 protected:
  void SetUp() override {
    Stream software(reference_, script(), input_, tag_);
    ASSERT_EQ(software.run(0, end()), "");
    expected_ = software.output();
  }

  static const Script& script() { return GetParam(); }
  static std::size_t end() { return script().steps.size(); }

  Stream stream() const { return {kaccel_.library(), script(), input_, tag_}; }
  std::uint64_t hardware_calls() const { return kaccel_.counter("hardware-calls"); }
  std::uint64_t sessions_opened() const { return kaccel_.counter("sessions-opened"); }

  // The stream's rest, from a stage on, with so many calls to hardware as it takes in one process.
  std::string rest(Stream& stream, std::size_t from,
                   const std::vector<std::uint64_t>& calls) const {
    const std::uint64_t before = hardware_calls();
    if (std::string failed = stream.run(from, end()); !failed.empty()) return failed;
    if (stream.output() != expected_) return "wrong bytes from stage " + std::to_string(from);
    const std::uint64_t made = hardware_calls() - before;
    if (made == calls[end()] - calls[from]) return {};
    return std::to_string(made) + " calls to hardware from stage " + std::to_string(from);
  }

  // After each step, how many calls of an undisturbed stream hardware has answered.
  std::vector<std::uint64_t> calls_after_each_step() const {
    const std::uint64_t before = hardware_calls();
    std::vector<std::uint64_t> calls{0};
    Stream undisturbed = stream();
    for (std::size_t i = 0; i < end(); ++i) {
      EXPECT_EQ(undisturbed.run(i, i + 1), "");
      calls.push_back(hardware_calls() - before);
    }
    EXPECT_EQ(undisturbed.output(), expected_);
    return calls;
  }

  const KaccelUnderTest kaccel_{settings_with_thresholds(threshold, threshold)};
  const LibraryContext reference_ = LibraryContext::with_default_provider();
  Bytes tag_;
  const Bytes input_ = input_of(script(), tag_);
  Bytes expected_;
};

TEST_P(ForkedStreams, GoOnRightlyInParentChildAndGrandchild) {
  const std::vector<std::uint64_t> calls = calls_after_each_step();
  for (std::size_t stage = 0; stage <= end(); ++stage) {
    SCOPED_TRACE("after " + std::to_string(stage) + " steps");
    Stream shared = stream();
    ASSERT_EQ(shared.run(0, stage), "");
    Child child([&](int) {
      const std::size_t next = std::min(stage + 1, end());
      const std::uint64_t before = hardware_calls();
      const std::uint64_t opened = sessions_opened();
      if (std::string failed = shared.run(stage, next); !failed.empty()) return failed;
      if (hardware_calls() - before != calls[next] - calls[stage]) {
        return std::string("hardware did not answer the child");
      }
      if (hardware_calls() != before && sessions_opened() == opened) {
        return std::string("the child used its parent's session");
      }
      Child grandchild([&](int) { return rest(shared, next, calls); });
      std::string said = rest(shared, next, calls);
      const std::string grandchild_said = grandchild.wait();
      return grandchild_said.empty() ? said : said + " grandchild: " + grandchild_said;
    });
    EXPECT_EQ(rest(shared, stage, calls), "");
    EXPECT_EQ(child.wait(), "");
  }
  EXPECT_EQ(kaccel_.counter("fallbacks"), 0U);
}

// The child does not even use the context: it frees it, and unloads the provider.
TEST_P(ForkedStreams, GoOnRightlyInAParentWhoseChildFreedTheContext) {
  auto kaccel = std::make_unique<KaccelUnderTest>(settings_with_thresholds(threshold, threshold));
  for (std::size_t stage = 1; stage <= end(); ++stage) {
    auto shared = std::make_unique<Stream>(kaccel->library(), script(), input_, tag_);
    ASSERT_EQ(shared->run(0, stage), "");
    auto copy = shared->duplicate();
    const std::string said = in_child([&](int) {
      shared.reset();
      copy.reset();
      kaccel.reset();
      return std::string();
    });
    EXPECT_EQ(said, "") << "after " << stage << " steps";
    EXPECT_EQ(shared->run(stage, end()), "");
    EXPECT_EQ(shared->output(), expected_) << "after " << stage << " steps";
    EXPECT_EQ(copy->run(stage, end()), "");
    EXPECT_EQ(copy->output(), expected_) << "after " << stage << " steps";
  }
  EXPECT_EQ(kaccel->counter("fallbacks"), 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, ForkedStreams, ::testing::ValuesIn(scripts()),
                         [](const auto& row) { return std::string(row.param.name); });

// Without it the comparisons above could be of software with itself.
TEST(ForkedStreamsOfAll, ReachHardware) {
  const LibraryContext reference = LibraryContext::with_default_provider();
  for (const Script& script : scripts()) {
    const KaccelUnderTest kaccel(settings_with_thresholds(threshold, threshold));
    Bytes tag;
    const Bytes input = input_of(script, tag);
    Stream stream(kaccel.library(), script, input, tag);
    EXPECT_EQ(stream.run(0, script.steps.size()), "");
    const std::string name = script.name;
    const bool expected = has_hardware(script.algorithm) && name != "SealGcmFromASmallUpdate" &&
                          name != "HmacWithinTheThreshold" && name != "HmacBeyondWhatIsCollected";
    EXPECT_EQ(kaccel.counter("hardware-calls") > 0, expected) << name;
  }
}

}  // namespace
}  // namespace kaccel::testing
