#include "tests/soak/footprint.hpp"

#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kaccel::testing {

Footprint footprint() {
  Footprint now;
  const struct mallinfo2 memory = ::mallinfo2();
  now.heap = memory.uordblks + memory.hblkhd;
  std::size_t total = 0;
  std::ifstream statm("/proc/self/statm");
  if (!(statm >> total >> now.resident)) {
    throw std::runtime_error("/proc/self/statm cannot be read");
  }
  now.resident *= static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  now.descriptors = static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  return now;
}

std::string to_text(const Footprint& footprint) {
  return "heap " + std::to_string(footprint.heap / 1024) + " KiB, resident " +
         std::to_string(footprint.resident / 1024) + " KiB, " +
         std::to_string(footprint.descriptors) + " descriptors";
}

bool under_a_sanitizer() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#endif
#endif
  return false;
}

}  // namespace kaccel::testing
