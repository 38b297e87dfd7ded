// OpenSSL's random numbers, made the same on both sides: GCM draws IVs by itself, CBC in TLS mode a
// MAC that hides a wrong padding.
#pragma once

#include <cstdint>

namespace kaccel::fuzzing {

// For the whole process, in every library context.
void install_fixed_random();

// From here on the numbers that this seed gives.
void restart_random(std::uint64_t seed) noexcept;

}  // namespace kaccel::fuzzing
