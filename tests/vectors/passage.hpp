// One message through EVP, cut and placed in different ways. Every way has to give the same bytes.
#pragma once

#include <openssl/evp.h>

#include <string>
#include <vector>

#include "chunk_sizes.hpp"
#include "known_answers.hpp"

namespace kaccel::vectors {

struct Passage {
  Chunks chunks;
  bool in_place;
  unsigned int seed;  // of random chunks
};

// The ways each vector is tried. In-place chunks of a block cipher are whole blocks: other ones
// would make input and output overlap in part, which EVP does not allow.
const std::vector<Passage>& all_passages();
// Those of a mode whose message is one update: XTS.
const std::vector<Passage>& uncut_passages();
std::string describe(const Passage& passage);

struct Message {
  const EVP_CIPHER* cipher;
  bool encrypt;
  bool padding;
  const Bytes& key;
  const Bytes& iv;
  const Bytes& input;
};

struct Outcome {
  bool ok;       // false: EVP refused the message in the update or at its end
  Bytes output;  // what came out until then
};

// Throws std::runtime_error where even the set-up fails.
Outcome pass(const Message& message, const Passage& passage);

}  // namespace kaccel::vectors
