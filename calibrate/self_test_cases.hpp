// The battery: what is tried on a driver, as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/restrictions.hpp"

namespace kaccel::calibrate {

enum class CaseKind : std::uint8_t {
  length,            // both directions at one length
  chained,           // one message in three requests, the chaining value carried over
  many_keys,         // keys that alternate on one session, and sessions that alternate
  both_directions,   // encryption and decryption in turn
  misaligned,        // buffers at odd addresses and across a page border
  counter_carry,     // CTR only: carries out of 32, 64 and 128 bits
  repeated,          // the same request many times
  through_provider,  // kaccel's provider: in place, odd chunks, both directions
};

struct Case {
  CaseKind kind;
  std::size_t length;  // bytes, whole blocks
};

// Whole blocks around the borders at which drivers err: block, 512 bytes, page, and large requests;
// ascending, and only what the restrictions permit.
std::vector<std::size_t> test_lengths(std::size_t block_size,
                                      const kernel::Restrictions& restrictions);

std::vector<Case> length_cases(const std::vector<std::size_t>& lengths);

// The rest of the battery, at some of the lengths (not empty, ascending) that have proved good.
std::vector<Case> further_cases(kernel::Chaining chaining,
                                const std::vector<std::size_t>& good_lengths);

}  // namespace kaccel::calibrate
