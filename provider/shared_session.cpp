#include "provider/shared_session.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>

namespace kaccel {

struct SharedSession::Group {
  explicit Group(kernel::SessionPool& its_pool) noexcept : pool(its_pool) {}

  kernel::SessionPool& pool;
  std::atomic<std::size_t> members{1};
  // Only ever tried: in a forked child it may belong to a thread that is no more.
  std::mutex mutex;
  kernel::SessionPool::Handle handle;  // guarded by mutex
};

SharedSession::SharedSession(const SharedSession& other) noexcept : group_(other.group_) {
  if (group_ != nullptr) group_->members.fetch_add(1, std::memory_order_relaxed);
}

void SharedSession::start(kernel::SessionPool& pool) noexcept {
  leave();
  group_ = new (std::nothrow) Group(pool);
}

void SharedSession::leave() noexcept {
  if (group_ != nullptr && group_->members.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    group_->pool.release(group_->handle);
    delete group_;
  }
  group_ = nullptr;
}

void SharedSession::take(kernel::SessionPool::Handle& handle) noexcept {
  if (group_ == nullptr || handle.key_load != 0) return;
  const std::unique_lock lock(group_->mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  handle = group_->pool.share(group_->handle);
}

void SharedSession::keep(const kernel::SessionPool::Handle& handle) noexcept {
  if (group_ == nullptr) return;
  const std::unique_lock lock(group_->mutex, std::try_to_lock);
  if (!lock.owns_lock() || group_->handle.key_load == handle.key_load) return;
  group_->pool.release(group_->handle);
  group_->handle = group_->pool.share(handle);
}

}  // namespace kaccel
