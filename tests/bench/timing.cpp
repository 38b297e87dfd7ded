#include "timing.hpp"

#include <time.h>

namespace kaccel::bench {
namespace {

std::uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

double time_calls(const Effort& effort, const std::function<void()>& call) {
  for (unsigned i = 0; i < effort.warm_up; ++i) call();
  const std::uint64_t start = now_ns();
  std::uint64_t calls = 0, passed = 0;
  do {
    for (unsigned i = 0; i < effort.operations; ++i) call();
    calls += effort.operations;
    passed = now_ns() - start;
  } while (passed < effort.milliseconds * 1'000'000);
  return static_cast<double>(passed) / static_cast<double>(calls);
}

}  // namespace kaccel::bench
