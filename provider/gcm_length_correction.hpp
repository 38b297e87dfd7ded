// What has to be added to a GMAC tag to make it the GCM tag of the same bytes (DESIGN 5).
//
// GHASH ends with a block of two lengths, AAD's and ciphertext's (NIST SP 800-38D, 7.1, step 5).
// kaccel feeds OpenSSL's GHASH the ciphertext as if it were AAD, each part padded with zeros to
// whole blocks. All blocks are then right but the last, and since GHASH is linear the tags differ
// by (right lengths + lengths used) * H in GF(2^128).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kaccel {

using GcmBlock = std::array<std::uint8_t, 16>;

// Addition in GF(2^128).
inline GcmBlock sum(GcmBlock a, const GcmBlock& b) noexcept {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] ^= b[i];
  return a;
}

// `hash_key`: H, the encryption of the zero block. Sizes in bytes. Takes a time that depends on the
// sizes alone.
GcmBlock gcm_length_correction(const GcmBlock& hash_key, std::uint64_t aad_size,
                               std::uint64_t text_size) noexcept;

}  // namespace kaccel
