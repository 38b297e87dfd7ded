// Known-answer files in NIST's CAVS format, as Python's cryptography carries them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kaccel::vectors {

using Bytes = std::vector<std::uint8_t>;

struct KnownAnswer {
  std::size_t line = 0;  // where it begins in the file, to find it again
  Bytes key;             // of 3DES all three, one after the other
  Bytes iv;              // empty where the mode has none; XTS: the tweak
  Bytes aad;
  Bytes plaintext;  // of a MAC the message
  Bytes ciphertext;
  Bytes tag;             // as many bytes as are to be compared; of a MAC the result
  bool refused = false;  // the tag is wrong, and the file has no plaintext
  std::size_t bits = 0;  // of an XTS data unit or a MAC's message; 0 where the file has it not
};

// Reads every record of a file, whatever section it stands in. Throws std::runtime_error that names
// file and line when the file cannot be read or a record is not whole.
std::vector<KnownAnswer> read_known_answers(const std::string& path);

// Throws std::invalid_argument for text that is not pairs of hexadecimal digits.
Bytes from_hex(const std::string& text);

}  // namespace kaccel::vectors
