// Whether a request's output may go into the application's memory.
//
// Before Linux 6.5 AF_ALG holds the pages it writes to without pinning them (af_alg_get_rsgl: a
// reference is taken, not FOLL_PIN). When another thread forks while a request is under way, those
// pages become copy-on-write; the next write to one of them, to whatever lies beside the output,
// gives the process a new page, and the driver's bytes land in the old one. The call succeeds and
// the output is lost. Memory that is not inherited by children (MADV_DONTFORK) is safe, and so is a
// process with one thread: it cannot fork while it waits.
#pragma once

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define KACCEL_KNOWS_THREADS 1
#endif

#include <cstddef>
#include <cstdint>

namespace kaccel::kernel {

// Whether the running kernel is one that pins the pages. An unreadable release counts as old.
bool kernel_pins_output() noexcept;

// Asked before each request, since threads come and go.
inline bool output_may_be_lost_to_fork() noexcept {
#ifdef KACCEL_KNOWS_THREADS
  if (__libc_single_threaded != 0) [[likely]]
    return false;
#endif
  return !kernel_pins_output();
}

// Memory that fork(2) does not hand on. A child that inherits the object must abandon() it: the
// addresses may be someone else's there.
class UnforkedBuffer {
 public:
  UnforkedBuffer() = default;
  UnforkedBuffer(const UnforkedBuffer&) = delete;
  UnforkedBuffer& operator=(const UnforkedBuffer&) = delete;
  ~UnforkedBuffer() { release(); }

  // At least `size` bytes, of unknown content; nullptr when memory is out.
  std::uint8_t* reserve(std::size_t size) noexcept;
  void release() noexcept;
  void abandon() noexcept;

  std::size_t size() const noexcept { return size_; }

 private:
  std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;  // whole pages
};

}  // namespace kaccel::kernel
