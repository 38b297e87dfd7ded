// A file of known answers through one cipher of kaccel: what all modes without a tag have in
// common.
#pragma once

#include <vector>

#include "passage.hpp"
#include "provider/settings.hpp"
#include "python_vectors.hpp"

namespace kaccel::vectors {

// Runs every record in both directions and every passage, and expects right bytes, the due hardware
// calls and no error.
void check_cipher_vectors(const Case& instance, const Settings& settings,
                          const std::vector<Passage>& passages);

}  // namespace kaccel::vectors
