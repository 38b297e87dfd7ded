// What a driver must not be asked to do: its quirks in a form that routing can test in a few
// instructions. Comes from the table of known drivers, narrowed by what a self-test found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

namespace kaccel::kernel {

struct Restrictions {
  // Key sizes the driver must not see, as a mask of refuse_key(bytes).
  std::uint64_t refused_keys = 0;
  // Smallest request, in bytes. qce computes a single block wrong: 17.
  std::size_t min_size = 0;
  // Largest request, in bytes. Longer data is split where the mode allows it.
  std::size_t max_size = std::numeric_limits<std::size_t>::max();
  // Requests longer than multiple_above bytes must be a multiple of size_multiple bytes
  // (qce's XTS hangs otherwise: above 512, 512). 0: no such rule.
  std::size_t multiple_above = 0;
  std::size_t size_multiple = 0;
  // The driver refuses 3DES keys of which two thirds are equal.
  bool refuses_repeated_des_keys = false;

  friend constexpr bool operator==(const Restrictions&, const Restrictions&) = default;
};

// key_size in bytes; only sizes up to 64 can be refused.
constexpr std::uint64_t refuse_key(std::size_t key_size) noexcept {
  return key_size >= 1 && key_size <= 64 ? std::uint64_t{1} << (key_size - 1) : 0;
}

constexpr bool permits_key(const Restrictions& r, std::size_t key_size) noexcept {
  return (r.refused_keys & refuse_key(key_size)) == 0;
}

// Whether one request of `size` bytes may go to the driver. Splitting at max_size is the caller's
// business: data that may be split asks with the whole size and never exceeds max_size a request.
constexpr bool permits_multiple(const Restrictions& r, std::size_t size) noexcept {
  return r.size_multiple == 0 || size <= r.multiple_above || size % r.size_multiple == 0;
}
constexpr bool permits_size(const Restrictions& r, std::size_t size) noexcept {
  return size >= r.min_size && permits_multiple(r, size);
}

// The rules of both: what either forbids stays forbidden. Of two rules of multiples comes one that
// keeps both, and may forbid a little more.
constexpr Restrictions combine(const Restrictions& a, const Restrictions& b) noexcept {
  Restrictions both = a;
  both.refused_keys |= b.refused_keys;
  both.min_size = std::max(a.min_size, b.min_size);
  both.max_size = std::min(a.max_size, b.max_size);
  if (both.size_multiple == 0) {
    both.size_multiple = b.size_multiple;
    both.multiple_above = b.multiple_above;
  } else if (b.size_multiple != 0) {
    both.size_multiple = std::lcm(a.size_multiple, b.size_multiple);
    both.multiple_above = std::min(a.multiple_above, b.multiple_above);
  }
  both.refuses_repeated_des_keys |= b.refuses_repeated_des_keys;
  return both;
}

}  // namespace kaccel::kernel
