// Notices that this process is a fork of the one that opened the sessions.
//
// Not an atfork handler: those stay registered after dlclose. A page marked MADV_WIPEONFORK
// (Linux 4.14, madvise(2)) reads as zero in the child; where that is missing, the process id tells.
#pragma once

#include <atomic>
#include <cstdint>

namespace kaccel::kernel {

class ProcessEpoch {
 public:
  ProcessEpoch() noexcept;
  ProcessEpoch(const ProcessEpoch&) = delete;
  ProcessEpoch& operator=(const ProcessEpoch&) = delete;
  ~ProcessEpoch();

  // A number that differs from every one returned before the last fork. Costs one load where the
  // page works, one getpid(2) elsewhere. Safe from any thread.
  std::uint32_t current() noexcept {
    if (page_ != nullptr && page_->load(std::memory_order_acquire) == valid) [[likely]] {
      return epoch_.load(std::memory_order_acquire);
    }
    return renew();
  }

 private:
  using Mark = std::atomic<std::uint32_t>;
  std::uint32_t renew() noexcept;

  enum : std::uint32_t { wiped = 0, valid = 1, being_renewed = 2 };

  Mark* page_ = nullptr;
  std::atomic<std::uint32_t> epoch_{1};
};

}  // namespace kaccel::kernel
