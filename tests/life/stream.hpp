// A stream of calls to EVP that can be stopped after any of them and gone on with elsewhere.
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/evp.hpp"

namespace kaccel::testing {

using Bytes = std::vector<std::uint8_t>;

// `size` bytes that do not repeat soon; another `seed` gives others.
Bytes test_bytes(std::size_t size, std::uint32_t seed);

struct Step {
  enum class Call : std::uint8_t {
    init,     // key and IV
    iv,       // the next IV, with the same key
    aad,      // `size` bytes
    data,     // `size` bytes
    end,      // final: padding, a MAC's result
    set_tag,  // GCM: the expected one
    get_tag,  // GCM
  };
  Call call;
  std::size_t size = 0;
};

struct Script {
  const char* name;       // of the test
  const char* algorithm;  // OpenSSL's name, or HMAC-DIGEST
  bool encrypt;
  std::vector<Step> steps;
};

void PrintTo(const Script& script, std::ostream* out);

class Stream {
 public:
  // Throws std::runtime_error where the library has no such algorithm. `input` and `tag` are as
  // input_of() made them.
  Stream(const LibraryContext& library, const Script& script, const Bytes& input, const Bytes& tag);

  // Makes the steps [from, to). "" or which failed.
  std::string run(std::size_t from, std::size_t to);
  // A copy of the context goes on where this one is.
  std::unique_ptr<Stream> duplicate() const;

  // All that came out: text, result, tag.
  const Bytes& output() const noexcept { return output_; }

 private:
  struct FreeMac {
    void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
    void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
  };

  Stream(const Stream& other, CipherContextPointer context, EVP_MAC_CTX* mac);
  bool step(const Step& step);
  bool mac_step(const Step& step);
  bool cipher_step(const Step& step);

  const Script& script_;
  const Bytes& input_;
  const Bytes& tag_;
  std::shared_ptr<EVP_CIPHER> cipher_;
  CipherContextPointer context_;
  std::unique_ptr<EVP_MAC_CTX, FreeMac> mac_;
  std::uint32_t ivs_ = 0;
  std::size_t consumed_ = 0;
  Bytes output_;
};

// What the script's data calls get: any bytes to encrypt, and to decrypt what the default provider
// made of them, with `tag` as its GCM tag.
Bytes input_of(const Script& script, Bytes& tag);

}  // namespace kaccel::testing
