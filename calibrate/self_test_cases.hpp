// The battery: what is tried on a driver, as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel-bridge/restrictions.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::calibrate {

enum class CaseKind : std::uint8_t {
  length,            // both directions at one length
  chained,           // one message in three requests, the chaining value carried over
  many_tweaks,       // XTS only: data units under several tweaks
  many_keys,         // keys that alternate on one session, and sessions that alternate
  both_directions,   // encryption and decryption in turn
  misaligned,        // buffers at odd addresses and across a page border
  counter_carry,     // CTR only: carries out of 32, 64 and 128 bits
  repeated,          // the same request many times
  through_provider,  // kaccel's provider: in place, odd chunks, both directions
  // Probes, see probe_cases():
  partial_block,   // CTR only: a request that ends within a block
  turned_session,  // ciphers: one session decrypts, then encrypts
  empty_message,   // HMAC: no bytes at all
};

// What a case that goes wrong shows.
enum class CasePurpose : std::uint8_t {
  driver,    // the driver cannot be trusted
  stealing,  // XTS: it cannot with data units that are not whole blocks
  probe,     // nothing for kaccel, which does not ask so
};

struct Case {
  CaseKind kind;
  std::size_t length;  // bytes of a request
  CasePurpose purpose = CasePurpose::driver;
};

// Lengths around the borders at which drivers err: block, 512 bytes, page, and large requests;
// ascending, and only what the restrictions permit. Whole blocks for ciphers, messages of any
// length for HMAC.
std::vector<std::size_t> test_lengths(const Algorithm& algorithm,
                                      const kernel::Restrictions& restrictions);

// XTS: lengths of data units that are not whole blocks, likewise.
std::vector<std::size_t> stealing_lengths(const kernel::Restrictions& restrictions);

// A case a length, the round ones first (powers of two, multiples of 64 KiB), then their
// neighbours; ascending in each of the two passes. So a driver that hangs on odd lengths has shown
// that it masters round ones before it is given up.
struct LengthCases {
  std::vector<Case> cases;
  std::size_t round;  // that many of them are round
};
LengthCases length_cases(const std::vector<std::size_t>& lengths);

// The rest of the battery, at some of the lengths (not empty, ascending) that have proved good.
std::vector<Case> further_cases(const Algorithm& algorithm,
                                const std::vector<std::size_t>& good_lengths);

// What is left to try where the same driver has passed with other keys of the same size.
std::vector<Case> repeat_cases(const Algorithm& algorithm,
                               const std::vector<std::size_t>& good_lengths);

// Where it has passed with keys of another size.
std::vector<Case> other_key_size_cases(const Algorithm& algorithm,
                                       const std::vector<std::size_t>& good_lengths);

// What kaccel never asks a driver for, though drivers are known to get it wrong.
std::vector<Case> probe_cases(const Algorithm& algorithm,
                              const std::vector<std::size_t>& good_lengths);

// XTS: what proves ciphertext stealing, at stealing_lengths() (not empty).
std::vector<Case> stealing_cases(const std::vector<std::size_t>& lengths);

}  // namespace kaccel::calibrate
