// What is timed: one operation of an application, many times over on one long-lived context.
#pragma once

#include <cstddef>
#include <memory>

#include "calibrate/cost.hpp"
#include "calibrate/openssl_context.hpp"

namespace kaccel::calibrate {

class TimedOperation {
 public:
  TimedOperation() = default;
  TimedOperation(const TimedOperation&) = delete;
  TimedOperation& operator=(const TimedOperation&) = delete;
  virtual ~TimedOperation() = default;

  // What `count` operations of `size` bytes cost. Throws OpensslError.
  Cost run(std::size_t size, unsigned count);

 private:
  // Not timed: whatever the operations of this size need.
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
