// What a peer would send: tags and records that are right.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <span>

#include "tests/fuzz/input.hpp"

namespace kaccel::fuzzing {

// The tag that this decrypting context expects, were `more` its last data; 16 bytes, {} where there
// is none. The context is not changed.
Bytes right_tag(const EVP_CIPHER_CTX* context, const Bytes& more);

struct Sealed {
  Bytes text;
  Bytes tag;  // 16 bytes
};

// {} where OpenSSL will not.
Sealed seal(const EVP_CIPHER* cipher, const Bytes& key, const Bytes& iv, const Bytes& aad,
            const Bytes& text);

}  // namespace kaccel::fuzzing
