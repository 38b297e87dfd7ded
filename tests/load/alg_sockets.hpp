// How many AF_ALG sockets this process holds.
#pragma once

#include <cstddef>

namespace kaccel::testing {

// By /proc/self/fd. Throws std::runtime_error where that cannot be read.
std::size_t count_alg_sockets();

}  // namespace kaccel::testing
