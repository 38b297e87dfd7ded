// What is timed: one operation of an application, many times over on one long-lived context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "calibrate/openssl_context.hpp"

namespace kaccel::calibrate {

// Of the clocks of the system and of the process; both count from anywhere.
struct Instant {
  std::uint64_t wall_ns = 0;
  std::uint64_t cpu_ns = 0;
};

struct Interval {
  Instant start;
  Instant end;
};

// From the start of the first to the end of the last.
Interval span(const Interval& a, const Interval& b) noexcept;

class TimedOperation {
 public:
  TimedOperation() = default;
  TimedOperation(const TimedOperation&) = delete;
  TimedOperation& operator=(const TimedOperation&) = delete;
  virtual ~TimedOperation() = default;

  // Not timed; comes before run() of that size. Throws OpensslError.
  void prepare_for(std::size_t size);

  // `count` operations of `size` bytes. Throws OpensslError.
  Interval run(std::size_t size, unsigned count);

 private:
  // Whatever the operations of this size need.
  virtual void prepare(std::size_t /*size*/) {}
  virtual void operate(std::size_t size) = 0;

  std::size_t prepared_size_ = 0;
};

// `context`: the side to be timed. `software`: OpenSSL's own, to prepare with. Both must outlive
// the operation, which takes sizes up to `largest_size`. Throws OpensslError.
std::unique_ptr<TimedOperation> make_operation(const Algorithm& algorithm,
                                               kernel::Direction direction,
                                               const OpensslContext& context,
                                               const OpensslContext& software,
                                               std::size_t largest_size);

}  // namespace kaccel::calibrate
