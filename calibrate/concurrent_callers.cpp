#include "calibrate/concurrent_callers.hpp"

#include <algorithm>
#include <exception>
#include <latch>
#include <string>
#include <system_error>
#include <thread>

#include "calibrate/sweep.hpp"

namespace kaccel::calibrate {
namespace {

// What became of one caller.
struct Outcome {
  Interval interval;
  std::string problem;  // "" where none
};

// Never lets an exception out: it may be all there is in its thread.
Outcome call(TimedOperation& operation, std::size_t size, unsigned count, std::latch& start) {
  Outcome outcome;
  bool waited = false;
  try {
    operation.prepare_for(size);
    waited = true;
    start.arrive_and_wait();
    outcome.interval = operation.run(size, count);
  } catch (const std::exception& error) {
    outcome.problem = error.what();
    if (outcome.problem.empty()) outcome.problem = "a caller failed";
  } catch (...) {
    outcome.problem = "a caller failed";
  }
  if (!waited) start.count_down();
  return outcome;
}

// All callers, a thread each. The problem of a thread that did not start is its outcome.
std::vector<Outcome> call_together(const std::vector<std::unique_ptr<TimedOperation>>& operations,
                                   std::size_t size, unsigned count) {
  std::vector<Outcome> outcomes(operations.size());
  std::latch start(static_cast<std::ptrdiff_t>(operations.size()));
  std::vector<std::jthread> threads;
  threads.reserve(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    try {
      threads.emplace_back([&start, &operations, &outcomes, i, size, count] {
        outcomes[i] = call(*operations[i], size, count, start);
      });
    } catch (const std::system_error& error) {
      outcomes[i].problem = std::string("no thread for a caller: ") + error.what();
      start.count_down();
    }
  }
  threads.clear();  // waits for them
  return outcomes;
}

}  // namespace

Cost ConcurrentCallers::run(std::size_t size, unsigned count) {
  std::vector<Outcome> outcomes;
  if (operations_.size() == 1) {
    std::latch alone(1);
    outcomes.push_back(call(*operations_.front(), size, count, alone));
  } else {
    outcomes = call_together(operations_, size, count);
  }
  Interval whole = outcomes.front().interval;
  for (const auto& [interval, problem] : outcomes) {
    if (!problem.empty()) throw MeasurementError(problem);
    whole = span(whole, interval);
  }
  return {whole.end.wall_ns - whole.start.wall_ns, whole.end.cpu_ns - whole.start.cpu_ns,
          count * static_cast<unsigned>(operations_.size())};
}

}  // namespace kaccel::calibrate
