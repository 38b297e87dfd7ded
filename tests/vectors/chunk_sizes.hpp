// How a message is cut into the pieces that one call gets each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>

namespace kaccel::vectors {

enum class Chunks { one, single_bytes, random };

class ChunkSizes {
 public:
  // Every piece but the last is a multiple of `unit` bytes. `seed` is that of random chunks.
  ChunkSizes(Chunks chunks, std::size_t unit, unsigned int seed)
      : chunks_(chunks), unit_(unit), random_(seed) {}

  std::size_t next(std::size_t left) {
    if (chunks_ == Chunks::one) return left;
    std::size_t size = unit_;
    if (chunks_ == Chunks::random) {
      const std::size_t most = std::max<std::size_t>(largest_random_chunk / unit_, 1);
      size *= 1 + random_() % most;
    }
    return std::min(size, left);
  }

 private:
  static constexpr std::size_t largest_random_chunk = 50;

  Chunks chunks_;
  std::size_t unit_;
  std::mt19937 random_;
};

inline std::string describe(Chunks chunks, unsigned int seed) {
  return chunks == Chunks::one            ? "in one update"
         : chunks == Chunks::single_bytes ? "byte by byte"
                                          : "in random chunks, seed " + std::to_string(seed);
}

}  // namespace kaccel::vectors
