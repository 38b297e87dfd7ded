// The descriptors that this process has.
#pragma once

#include <sys/types.h>

#include <vector>

namespace kaccel::testing {

// In ascending order, without the one that reading the list takes. Throws std::runtime_error where
// /proc cannot be read.
std::vector<int> own_descriptors();
// Those of AF_ALG.
std::vector<int> own_alg_sockets();

// As closefrom(3) does, but for one.
void close_all_but(int kept);

}  // namespace kaccel::testing
