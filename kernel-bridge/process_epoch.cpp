#include "kernel-bridge/process_epoch.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace kaccel::kernel {
namespace {

std::size_t page_size() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

ProcessEpoch::ProcessEpoch() noexcept {
  static_assert(Mark::is_always_lock_free);
  void* memory =
      ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  if (::madvise(memory, page_size(), MADV_WIPEONFORK) != 0) {
    ::munmap(memory, page_size());
    return;
  }
  page_ = new (memory) Mark(valid);
}

ProcessEpoch::~ProcessEpoch() {
  if (page_ != nullptr) ::munmap(page_, page_size());
}

std::uint32_t ProcessEpoch::renew() noexcept {
  if (page_ == nullptr) return static_cast<std::uint32_t>(::getpid());
  for (;;) {
    std::uint32_t mark = page_->load(std::memory_order_acquire);
    if (mark == valid) return epoch_.load(std::memory_order_acquire);
    // The first thread of the child to get here renews; the others wait for these few instructions.
    if (mark == wiped && page_->compare_exchange_strong(mark, being_renewed)) {
      epoch_.fetch_add(1);
      page_->store(valid, std::memory_order_release);
    }
  }
}

}  // namespace kaccel::kernel
