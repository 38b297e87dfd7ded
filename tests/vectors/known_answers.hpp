// Known-answer files in NIST's CAVS format, as Python's cryptography carries them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kaccel::vectors {

using Bytes = std::vector<std::uint8_t>;

struct KnownAnswer {
  std::size_t line = 0;  // of its COUNT in the file, to find it again
  Bytes key;
  Bytes iv;  // empty where the mode has none
  Bytes plaintext;
  Bytes ciphertext;
};

// Reads every record of a file, whatever section it stands in. Throws std::runtime_error that names
// file and line when the file cannot be read or a record is not whole.
std::vector<KnownAnswer> read_known_answers(const std::string& path);

// Throws std::invalid_argument for text that is not pairs of hexadecimal digits.
Bytes from_hex(const std::string& text);

}  // namespace kaccel::vectors
