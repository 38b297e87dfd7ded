// Software or hardware? The whole decision, free of state and side effects (DESIGN 5).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-bridge/restrictions.hpp"

namespace kaccel {

// Bytes up to which software is used. 0: hardware always; never_hardware: software always.
using Threshold = std::int64_t;
inline constexpr Threshold never_hardware = -1;
inline constexpr Threshold always_hardware = 0;

// Requests of this many bytes and fewer go to hardware only under always_hardware.
inline constexpr std::size_t smallest_worthwhile = 16;

enum class Route : std::uint8_t { software, hardware };

// Why a call goes where it goes; `explain` prints it.
enum class RouteReason : std::uint8_t {
  above_threshold,
  threshold_is_zero,
  threshold_is_never,
  within_threshold,
  too_small_for_any_hardware,
  driver_refuses_key_size,
  driver_refuses_size,
};

struct Decision {
  Route route;
  RouteReason reason;

  friend constexpr bool operator==(const Decision&, const Decision&) = default;
};

// Decides one call. `size`: the bytes this call can give to hardware; `key_size` in bytes.
constexpr Decision decide(Threshold threshold, std::size_t size, std::size_t key_size,
                          const kernel::Restrictions& restrictions) noexcept {
  using enum RouteReason;
  if (threshold < 0) return {Route::software, threshold_is_never};
  if (threshold > 0) {
    if (size <= static_cast<std::uint64_t>(threshold)) return {Route::software, within_threshold};
    if (size <= smallest_worthwhile) return {Route::software, too_small_for_any_hardware};
  }
  if (!permits_key(restrictions, key_size)) return {Route::software, driver_refuses_key_size};
  if (size == 0 || !permits_size(restrictions, size)) {
    return {Route::software, driver_refuses_size};
  }
  return {Route::hardware, threshold == 0 ? threshold_is_zero : above_threshold};
}

// The smallest size that decide() sends to hardware, SIZE_MAX where there is none: what each call
// of a long-lived context compares with, so that decide() runs once a context. From that size on
// only a size_multiple rule can still say no (permits_size).
constexpr std::size_t smallest_hardware_size(Threshold threshold, std::size_t key_size,
                                             const kernel::Restrictions& restrictions) noexcept {
  if (threshold < 0 || !permits_key(restrictions, key_size)) return SIZE_MAX;
  std::size_t smallest = restrictions.min_size > 1 ? restrictions.min_size : 1;
  if (threshold > 0) {
    const auto above = static_cast<std::size_t>(threshold) + 1;
    smallest = smallest > above ? smallest : above;
    smallest = smallest > smallest_worthwhile ? smallest : smallest_worthwhile + 1;
  }
  return smallest;
}

// The size up to and including which no call of this threshold can go to hardware: what the hot
// path compares with.
constexpr std::size_t software_limit(Threshold threshold) noexcept {
  return threshold < 0 ? SIZE_MAX : static_cast<std::size_t>(threshold);
}

// One phrase for a person, e.g. "the size is within the threshold".
const char* describe(RouteReason reason) noexcept;

}  // namespace kaccel
