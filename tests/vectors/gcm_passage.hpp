// One GCM message through EVP, cut and placed in different ways, with the expected tag set early or
// late.
#pragma once

#include <openssl/evp.h>

#include <string>
#include <vector>

#include "chunk_sizes.hpp"
#include "known_answers.hpp"

namespace kaccel::vectors {

struct GcmPassage {
  Chunks text;
  Chunks aad;
  bool in_place;
  bool late_tag;      // decrypting: only before the end, instead of before the data
  unsigned int seed;  // of random chunks
};

const std::vector<GcmPassage>& gcm_passages();
std::string describe(const GcmPassage& passage);

struct GcmMessage {
  const EVP_CIPHER* cipher;
  const Bytes& key;
  const Bytes& iv;  // of any length
  const Bytes& aad;
  const Bytes& text;  // plaintext or ciphertext
  const Bytes& tag;   // decrypting: the expected one. Encrypting: only its length matters
};

struct GcmOutcome {
  bool ok;     // false: EVP refused something on the way
  Bytes text;  // what came out until then; without a right tag it is not to be trusted
  Bytes tag;   // encrypting: as long as asked for
};

GcmOutcome seal(const GcmMessage& message, const GcmPassage& passage);
GcmOutcome open(const GcmMessage& message, const GcmPassage& passage);

}  // namespace kaccel::vectors
