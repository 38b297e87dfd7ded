// Callers that work at the same time, each with a context and buffers of its own: an engine that
// serves all cores is worth less to each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "calibrate/cost.hpp"
#include "calibrate/timed_operation.hpp"

namespace kaccel::calibrate {

class ConcurrentCallers {
 public:
  static constexpr unsigned most = 64;

  // One caller an operation; at least one.
  explicit ConcurrentCallers(std::vector<std::unique_ptr<TimedOperation>> operations)
      : operations_(std::move(operations)) {}

  // `count` operations of `size` bytes by each caller, who are released together. What all of them
  // cost: elapsed from the start of the first to the end of the last, CPU time of the process. A
  // single caller gets no thread, so that the process stays one with a single thread. Throws
  // MeasurementError.
  Cost run(std::size_t size, unsigned count);

 private:
  std::vector<std::unique_ptr<TimedOperation>> operations_;
};

}  // namespace kaccel::calibrate
