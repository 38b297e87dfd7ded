#include "calibrate/self_test_cases.hpp"

#include <algorithm>
#include <array>

namespace kaccel::calibrate {
namespace {

// Each is tried with a block less and a block more.
constexpr std::array<std::size_t, 14> borders{64,   128,  256,   512,   1024,  1424,   2048,
                                              4096, 8192, 16384, 32768, 65536, 131072, 196608};

// The first good length that is at least `wanted`, or the largest.
std::size_t pick(const std::vector<std::size_t>& good_lengths, std::size_t wanted) {
  const auto found = std::lower_bound(good_lengths.begin(), good_lengths.end(), wanted);
  return found != good_lengths.end() ? *found : good_lengths.back();
}

}  // namespace

std::vector<std::size_t> test_lengths(std::size_t block_size,
                                      const kernel::Restrictions& restrictions) {
  std::vector<std::size_t> lengths{block_size, 2 * block_size, 3 * block_size};
  for (const std::size_t border : borders) {
    const std::size_t whole = border / block_size * block_size;
    lengths.insert(lengths.end(), {whole - block_size, whole, whole + block_size});
  }
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  std::erase_if(lengths, [&](std::size_t length) {
    return !kernel::permits_size(restrictions, length) || length > restrictions.max_size;
  });
  return lengths;
}

std::vector<Case> length_cases(const std::vector<std::size_t>& lengths) {
  std::vector<Case> cases;
  for (const std::size_t length : lengths) cases.push_back({CaseKind::length, length});
  return cases;
}

std::vector<Case> further_cases(kernel::Chaining chaining,
                                const std::vector<std::size_t>& good_lengths) {
  std::vector<Case> cases;
  const auto add = [&](CaseKind kind, std::initializer_list<std::size_t> wanted) {
    std::size_t last = 0;
    for (const std::size_t length : wanted) {
      const std::size_t good = pick(good_lengths, length);
      if (good != last) cases.push_back({kind, good});
      last = good;
    }
  };
  if (chaining != kernel::Chaining::none) add(CaseKind::chained, {16, 512, 4096});
  add(CaseKind::many_keys, {64, 1024});
  add(CaseKind::both_directions, {64, 1024});
  add(CaseKind::misaligned, {48, 512, 4096, 16384});
  if (chaining == kernel::Chaining::ctr) add(CaseKind::counter_carry, {64, 4096});
  add(CaseKind::repeated, {64, 4096});
  add(CaseKind::through_provider, {1024, 65536});
  return cases;
}

}  // namespace kaccel::calibrate
