// The calls of one input, told only when asked for: an input that differs is run a second time,
// talking.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

namespace kaccel::fuzzing {

// kaccel did something else than OpenSSL.
class Difference : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Transcript {
 public:
  explicit Transcript(bool talks) noexcept : talks_(talks) {}

  // `text` is a function that returns the line.
  template <class Text>
  void note(Text text) {
    if (talks_) print(text());
  }

 private:
  static void print(const std::string& line);

  bool talks_;
};

std::string hex(std::span<const unsigned char> bytes);

}  // namespace kaccel::fuzzing
