#include "tests/fuzz/transcript.hpp"

#include <cstdio>

namespace kaccel::fuzzing {

void Transcript::print(const std::string& line) {
  std::fprintf(stderr, "  %s\n", line.c_str());
}

std::string hex(std::span<const unsigned char> bytes) {
  constexpr auto digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

}  // namespace kaccel::fuzzing
