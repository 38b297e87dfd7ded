#include "kernel-bridge/fork_safety.hpp"

#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace kaccel::kernel {
namespace {

bool release_pins_pages() noexcept {
  utsname name{};
  if (::uname(&name) != 0) return false;
  char* end = nullptr;
  const unsigned long major = std::strtoul(name.release, &end, 10);
  const unsigned long minor = *end == '.' ? std::strtoul(end + 1, nullptr, 10) : 0;
  return major > 6 || (major == 6 && minor >= 5);
}

}  // namespace

bool kernel_pins_output() noexcept {
  // Not a static that is initialised here: another thread may be at that when this one forks, and
  // the child would wait for it for ever.
  enum : int { unknown, pinned, not_pinned };
  static std::atomic<int> known{unknown};
  int now = known.load(std::memory_order_relaxed);
  if (now == unknown) [[unlikely]] {
    now = release_pins_pages() ? pinned : not_pinned;
    known.store(now, std::memory_order_relaxed);
  }
  return now == pinned;
}

std::uint8_t* UnforkedBuffer::reserve(std::size_t size) noexcept {
  if (size <= size_) return bytes_;
  release();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t whole = (size + page - 1) / page * page;
  if (whole < size) return nullptr;
  void* memory = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (::madvise(memory, whole, MADV_DONTFORK) != 0) {
    ::munmap(memory, whole);
    return nullptr;
  }
  bytes_ = static_cast<std::uint8_t*>(memory);
  size_ = whole;
  return bytes_;
}

void UnforkedBuffer::release() noexcept {
  if (size_ != 0) ::munmap(bytes_, size_);
  abandon();
}

void UnforkedBuffer::abandon() noexcept {
  bytes_ = nullptr;
  size_ = 0;
}

}  // namespace kaccel::kernel
