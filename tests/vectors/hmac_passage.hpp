// One message through EVP's HMAC in different ways. Every result has to be the same.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <vector>

#include "chunk_sizes.hpp"
#include "known_answers.hpp"
#include "tests/support/evp.hpp"

namespace kaccel::vectors {

struct FreeMac {
  void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
};
using MacPointer = std::unique_ptr<EVP_MAC, FreeMac>;

// kaccel's HMAC, or nullptr.
MacPointer fetch_hmac(const kaccel::testing::LibraryContext& library);

enum class Reuse {
  none,
  duplicated,  // a copy is made half-way, and both are brought to their end
  same_key,    // the context is begun again without a key, and gets the message once more
};

struct HmacPassage {
  Chunks chunks;
  Reuse reuse;
  unsigned int seed;  // of random chunks
};

const std::vector<HmacPassage>& hmac_passages();
std::string describe(const HmacPassage& passage);

struct HmacMessage {
  EVP_MAC* mac;
  const char* digest;
  const Bytes& key;
  const Bytes& message;
};

// The full result of every run to the end: one, with reuse two. Throws std::runtime_error where EVP
// refuses anything.
std::vector<Bytes> pass(const HmacMessage& message, const HmacPassage& passage);

}  // namespace kaccel::vectors
