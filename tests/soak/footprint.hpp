// What a process holds: memory and descriptors.
#pragma once

#include <cstddef>
#include <string>

namespace kaccel::testing {

struct Footprint {
  std::size_t heap = 0;         // bytes that malloc has handed out (mallinfo2)
  std::size_t resident = 0;     // bytes of memory (/proc/self/statm)
  std::size_t descriptors = 0;  // open ones (/proc/self/fd)
};

// Of this process, now. Throws std::runtime_error when /proc cannot be read.
Footprint footprint();

// For the log: "heap 1234 KiB, resident 5678 KiB, 12 descriptors".
std::string to_text(const Footprint& footprint);

// Whether malloc is a sanitizer's, of which `heap` and `resident` say nothing.
bool under_a_sanitizer() noexcept;

}  // namespace kaccel::testing
