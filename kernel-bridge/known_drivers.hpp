// The drivers whose behaviour somebody has documented: one row a driver and algorithm, with its
// quirks, the threshold published for it, and where that is written.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/restrictions.hpp"

namespace kaccel::kernel {

struct KnownDriver {
  const char* family;  // "qce", "eip93", "padlock", "virtio"
  const char* driver;  // the kernel's driver name, e.g. "cbc-aes-qce"
  Algorithm algorithm;
  Restrictions restrictions;
  // Bytes up to which software is used until the device is calibrated; -1: always software.
  std::int64_t published_threshold;
  const char* quirks;  // one line for a person, "" where none is known
  const char* source;  // where quirks and threshold come from
  // What `restrictions` keep from the driver by sizes that applications use, a phrase each, as
  // "hangs on ...". nullptr: no more.
  std::array<const char*, 2> avoided{};
};

std::span<const KnownDriver> known_drivers() noexcept;

// The row of a driver name, or nullptr.
const KnownDriver* find_known_driver(std::string_view driver) noexcept;

}  // namespace kaccel::kernel
