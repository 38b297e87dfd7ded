// RAND_METHOD is deprecated, and the one way to reach library contexts that are not ours, such as
// the one kaccel keeps its software in.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "tests/fuzz/fixed_random.hpp"

#include <openssl/rand.h>

#include <stdexcept>

namespace kaccel::fuzzing {
namespace {

std::uint64_t state = 0;

int next_bytes(unsigned char* out, int size) {
  for (int i = 0; i < size; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    out[i] = static_cast<unsigned char>(state >> 56U);
  }
  return 1;
}

int is_seeded() {
  return 1;
}

}  // namespace

void install_fixed_random() {
  static const RAND_METHOD method{nullptr, next_bytes, nullptr, nullptr, next_bytes, is_seeded};
  if (RAND_set_rand_method(&method) != 1) throw std::runtime_error("no RAND_METHOD can be set");
}

void restart_random(std::uint64_t seed) noexcept {
  state = seed;
}

}  // namespace kaccel::fuzzing
