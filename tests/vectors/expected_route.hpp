// What a vector test expects around the bytes: where they were ciphered, and no stray error.
#pragma once

#include <cstddef>
#include <string>

#include "provider/routing.hpp"

namespace kaccel::vectors {

// Whether one update of so many bytes has to be answered by the driver under test.
bool goes_to_hardware(const char* algorithm, Threshold threshold, std::size_t size);

// The newest error in OpenSSL's queue as text, "" where there is none; empties the queue.
std::string take_error();

}  // namespace kaccel::vectors
