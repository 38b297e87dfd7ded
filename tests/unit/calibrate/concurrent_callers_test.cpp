#include "calibrate/concurrent_callers.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "calibrate/sweep.hpp"

namespace kaccel::calibrate {
namespace {

class MadeUpOperation : public TimedOperation {
 public:
  MadeUpOperation(std::function<void()> prepare, std::function<void()> operate)
      : prepare_(std::move(prepare)), operate_(std::move(operate)) {}

 private:
  void prepare(std::size_t) override { prepare_(); }
  void operate(std::size_t) override { operate_(); }

  std::function<void()> prepare_;
  std::function<void()> operate_;
};

void nothing() {}

ConcurrentCallers callers(unsigned number, const std::function<void()>& operate,
                          const std::function<void()>& prepare = nothing) {
  std::vector<std::unique_ptr<TimedOperation>> operations;
  for (unsigned i = 0; i < number; ++i) {
    operations.push_back(std::make_unique<MadeUpOperation>(prepare, operate));
  }
  return ConcurrentCallers(std::move(operations));
}

TEST(ConcurrentCallers, WorkAtTheSameTime) {
  constexpr unsigned number = 5;
  // Nobody passes it before all callers are in an operation.
  std::barrier together(number);
  auto all = callers(number, [&] { together.arrive_and_wait(); });
  const auto cost = all.run(64, 3);
  EXPECT_EQ(cost.operations, 15u);
  EXPECT_GT(cost.wall_ns, 0u);
  EXPECT_GT(cost.cpu_ns, 0u);
}

TEST(ConcurrentCallers, ASingleOneHasNoThreadOfItsOwn) {
  std::set<std::thread::id> seen;
  auto alone = callers(1, [&] { seen.insert(std::this_thread::get_id()); });
  EXPECT_EQ(alone.run(64, 4).operations, 4u);
  EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
}

TEST(ConcurrentCallers, TheProcessorTimeIsThatOfAllOfThem) {
  const auto spin = [] {
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 2'000'000; ++i) sum = sum + i;
  };
  const auto one = callers(1, spin).run(64, 1);
  const auto four = callers(4, spin).run(64, 1);
  EXPECT_GT(four.cpu_ns, 2 * one.cpu_ns);
}

TEST(ConcurrentCallers, EachPreparesASizeOnce) {
  std::mutex mutex;
  int prepared = 0;
  auto two = callers(2, nothing, [&] {
    const std::lock_guard lock(mutex);
    ++prepared;
  });
  two.run(64, 1);
  two.run(64, 1);
  EXPECT_EQ(prepared, 2);
  two.run(128, 1);
  EXPECT_EQ(prepared, 4);
}

// What goes wrong in one caller's thread.
class AFailingCaller : public ::testing::TestWithParam<unsigned> {
 protected:
  static std::string problem(ConcurrentCallers callers) {
    try {
      callers.run(64, 2);
    } catch (const MeasurementError& error) {
      return error.what();
    }
    return {};
  }

  // Throws in one of the threads.
  template <typename Exception>
  std::function<void()> once(Exception exception) {
    return [this, exception] {
      const std::lock_guard lock(mutex_);
      if (++calls_ == 1) throw exception;
    };
  }

  std::mutex mutex_;
  int calls_ = 0;
};

TEST_P(AFailingCaller, FailsTheMeasurementWhileItWorks) {
  EXPECT_EQ(problem(callers(GetParam(), once(OpensslError("broken")))), "broken");
}

TEST_P(AFailingCaller, FailsTheMeasurementWhileItPreparesAndHoldsUpNobody) {
  EXPECT_EQ(problem(callers(GetParam(), nothing, once(OpensslError("broken")))), "broken");
}

TEST_P(AFailingCaller, MayThrowAnything) {
  EXPECT_EQ(problem(callers(GetParam(), once(1))), "a caller failed");
}

INSTANTIATE_TEST_SUITE_P(Callers, AFailingCaller, ::testing::Values(1U, 2U, 8U));

TEST(Interval, SpansFromTheFirstStartToTheLastEnd) {
  const auto both = span({{10, 1}, {20, 5}}, {{12, 2}, {30, 4}});
  EXPECT_EQ(both.start.wall_ns, 10u);
  EXPECT_EQ(both.end.wall_ns, 30u);
  EXPECT_EQ(both.start.cpu_ns, 1u);
  EXPECT_EQ(both.end.cpu_ns, 5u);
}

}  // namespace
}  // namespace kaccel::calibrate
