// A context's handles on the pool: one for the direction it works in, one for the other.
//
// Sessions are per direction. A context that is initialised for one and the other in turn under the
// same key would else let go of each, and the pool wipes a key that nobody holds.
#pragma once

#include <utility>

#include "kernel-bridge/session_pool.hpp"

namespace kaccel {

class SessionByDirection {
 public:
  kernel::SessionPool::Handle& current() noexcept { return current_; }

  // The context changes direction.
  void turn() noexcept { std::swap(current_, other_); }

  // For a duplicated context, which has none yet.
  void share(kernel::SessionPool& pool, const SessionByDirection& original) noexcept {
    current_ = pool.share(original.current_);
    other_ = pool.share(original.other_);
  }

  void release(kernel::SessionPool& pool) noexcept {
    pool.release(current_);
    pool.release(other_);
  }

 private:
  kernel::SessionPool::Handle current_;
  kernel::SessionPool::Handle other_;
};

}  // namespace kaccel
