#include "tests/faults/scenario.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tests/support/evp.hpp"

namespace kaccel::testing {
namespace {

using Bytes = Transcript::Bytes;

Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  unsigned state = 2 * seed + 1;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}

// Makes one call, with its errno and its errors looked at.
template <class Call>
void watched(Transcript& transcript, const char* what, Call call) {
  constexpr int sentinel = 4711;
  ERR_clear_error();
  errno = sentinel;
  const int result = call();
  if (errno != sentinel) {
    transcript.complain(std::string(what) + " leaves errno " + std::to_string(errno));
  }
  if (result == 1 && ERR_peek_error() != 0) {
    transcript.complain(std::string(what) +
                        " leaves an error: " + ERR_error_string(ERR_peek_error(), nullptr));
  }
  transcript.add(result);
}

enum class Place : bool { apart, in_place };

class Cipher {
 public:
  Cipher(Transcript& transcript, const char* algorithm)
      : transcript_(transcript),
        cipher_(EVP_CIPHER_fetch(transcript.library(), algorithm, nullptr)),
        context_(EVP_CIPHER_CTX_new()) {
    if (cipher_ == nullptr) throw std::runtime_error(std::string("no ") + algorithm);
  }

  EVP_CIPHER_CTX* get() const { return context_.get(); }

  void init(bool encrypt, unsigned key_seed, unsigned iv_seed) {
    const Bytes key = pattern(64, key_seed);
    const Bytes iv = pattern(16, iv_seed);
    watched(transcript_, "init", [&] {
      return EVP_CipherInit_ex2(get(), cipher_.get(), key.data(), iv.data(), encrypt ? 1 : 0,
                                nullptr);
    });
  }

  void next_iv(unsigned iv_seed) {
    const Bytes iv = pattern(16, iv_seed);
    watched(transcript_, "init with an IV",
            [&] { return EVP_CipherInit_ex2(get(), nullptr, nullptr, iv.data(), -1, nullptr); });
  }

  // Returns what came out.
  Bytes update(const Bytes& input, Place place = Place::apart) {
    constexpr std::size_t room = 32;
    Bytes memory(input.size() + room, 0xee);
    const Bytes before = input;
    if (place == Place::in_place) std::copy(input.begin(), input.end(), memory.begin());
    const std::uint8_t* from = place == Place::in_place ? memory.data() : input.data();
    int written = 0;
    watched(transcript_, "update", [&] {
      return EVP_CipherUpdate(get(), memory.data(), &written, from, static_cast<int>(input.size()));
    });
    if (input != before) transcript_.complain("update writes to its input");
    // A call may use what it was given room for: a block more than goes in.
    if (!std::all_of(memory.end() - 16, memory.end(), [](auto byte) { return byte == 0xee; })) {
      transcript_.complain("update writes beyond its output");
    }
    memory.resize(static_cast<std::size_t>(written));
    transcript_.add(memory);
    return memory;
  }

  void aad(const Bytes& bytes) {
    int written = 0;
    watched(transcript_, "AAD", [&] {
      return EVP_CipherUpdate(get(), nullptr, &written, bytes.data(),
                              static_cast<int>(bytes.size()));
    });
  }

  Bytes final() {
    Bytes last(32, 0xee);
    int written = 0;
    watched(transcript_, "final", [&] { return EVP_CipherFinal_ex(get(), last.data(), &written); });
    last.resize(static_cast<std::size_t>(std::max(written, 0)));
    transcript_.add(last);
    return last;
  }

  void duplicate_of(const Cipher& other) {
    watched(transcript_, "copy", [&] { return EVP_CIPHER_CTX_copy(get(), other.get()); });
  }

 private:
  Transcript& transcript_;
  CipherPointer cipher_;
  CipherContextPointer context_;
};

// Requests hold a page in these tests, so that 9,000 bytes are three.
constexpr std::size_t several_requests = 9008;

void stream_of_blocks(Transcript& transcript, const Scenario& scenario) {
  Cipher cipher(transcript, scenario.algorithm);
  cipher.init(true, 1, 2);
  Bytes text = cipher.update(pattern(96, 3));
  const Bytes more = cipher.update(pattern(several_requests, 4), Place::in_place);
  text.insert(text.end(), more.begin(), more.end());
  const Bytes last = cipher.final();
  text.insert(text.end(), last.begin(), last.end());
  // The other direction, with padding, and a piece of no whole blocks.
  cipher.init(false, 1, 2);
  cipher.update({text.begin(), text.begin() + 55});
  cipher.update({text.begin() + 55, text.end()});
  cipher.final();
}

void counter_mode(Transcript& transcript, const Scenario& scenario) {
  Cipher cipher(transcript, scenario.algorithm);
  cipher.init(true, 1, 2);
  cipher.update(pattern(5, 3));
  cipher.update(pattern(several_requests + 3, 4), Place::in_place);
  Cipher copy(transcript, scenario.algorithm);
  copy.duplicate_of(cipher);
  cipher.update(pattern(77, 5));
  copy.update(pattern(several_requests, 6));
  cipher.next_iv(7);
  cipher.update(pattern(160, 8), Place::in_place);
}

void data_units(Transcript& transcript, const Scenario& scenario) {
  Cipher cipher(transcript, scenario.algorithm);
  cipher.init(true, 1, 2);
  cipher.update(pattern(512, 3));
  cipher.next_iv(4);
  cipher.update(pattern(4096, 5), Place::in_place);
  cipher.next_iv(6);
  cipher.update(pattern(4112, 7));  // more than a request
  cipher.init(false, 1, 8);
  cipher.update(pattern(1024, 9), Place::in_place);
}

void sealed_message(Transcript& transcript, const Scenario& scenario) {
  Cipher cipher(transcript, scenario.algorithm);
  cipher.init(true, 1, 2);
  cipher.aad(pattern(21, 3));
  Bytes text = cipher.update(pattern(several_requests, 4), Place::in_place);
  const Bytes more = cipher.update(pattern(103, 5));
  text.insert(text.end(), more.begin(), more.end());
  cipher.final();
  Bytes tag(16);
  watched(transcript, "get the tag",
          [&] { return EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data()); });
  transcript.add(tag);
  for (const bool right : {true, false}) {
    cipher.init(false, 1, 2);
    if (!right) tag[3] ^= 1;
    watched(transcript, "set the tag", [&] {
      return EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
    });
    cipher.aad(pattern(21, 3));
    cipher.update(text, right ? Place::in_place : Place::apart);
    cipher.final();
  }
}

// Sessions are fewer than keys, so that each use loads a key into a transform that had another.
void keys_in_turn(Transcript& transcript, const Scenario& scenario) {
  Cipher first(transcript, scenario.algorithm);
  Cipher second(transcript, scenario.algorithm);
  first.init(true, 1, 2);
  second.init(true, 3, 4);
  for (unsigned i = 0; i < 3; ++i) {
    first.update(pattern(64, 5 + i), Place::in_place);
    second.update(pattern(48, 9 + i));
  }
}

struct FreeMac {
  void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

void messages(Transcript& transcript, const Scenario& scenario) {
  const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(transcript.library(), "HMAC", nullptr));
  const MacContext context(EVP_MAC_CTX_new(mac.get()));
  std::string digest = std::string(scenario.algorithm).substr(5);
  const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                          OSSL_PARAM_construct_end()};
  const Bytes key = pattern(20, 1);
  const auto add = [&](EVP_MAC_CTX* to, const Bytes& bytes) {
    watched(transcript, "update", [&] { return EVP_MAC_update(to, bytes.data(), bytes.size()); });
  };
  const auto end = [&](EVP_MAC_CTX* of) {
    Bytes result(EVP_MAX_MD_SIZE, 0xee);
    std::size_t size = 0;
    watched(transcript, "final",
            [&] { return EVP_MAC_final(of, result.data(), &size, result.size()); });
    transcript.add(result);
  };
  watched(transcript, "init",
          [&] { return EVP_MAC_init(context.get(), key.data(), key.size(), params.data()); });
  add(context.get(), pattern(100, 2));
  const MacContext copy(EVP_MAC_CTX_dup(context.get()));
  add(context.get(), pattern(5000, 3));
  end(context.get());
  add(copy.get(), pattern(3, 4));
  end(copy.get());
  watched(transcript, "init again",
          [&] { return EVP_MAC_init(context.get(), nullptr, 0, nullptr); });
  add(context.get(), pattern(33, 5));
  end(context.get());
}

constexpr std::array all{
    Scenario{"ecb", "AES-192-ECB", 8, 0, stream_of_blocks},
    Scenario{"cbc", "AES-128-CBC", 8, 0, stream_of_blocks},
    Scenario{"des", "DES-EDE3-CBC", 8, 0, stream_of_blocks},
    Scenario{"ctr", "AES-256-CTR", 8, 0, counter_mode},
    Scenario{"xts", "AES-128-XTS", 8, 1, data_units},
    Scenario{"gcm", "AES-256-GCM", 8, 0, sealed_message},
    Scenario{"hmac", "HMAC-SHA256", 8, 0, messages},
    Scenario{"keys", "AES-128-CBC", 1, 0, keys_in_turn},
    Scenario{"keys_without_input", "AES-128-CBC", 1, 0, keys_in_turn, true},
    Scenario{"hmac_without_input", "HMAC-SHA256", 8, 0, messages, true},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return all;
}

Transcript run(const Scenario& scenario, OSSL_LIB_CTX* library) {
  Transcript transcript(library);
  scenario.run(transcript, scenario);
  ERR_clear_error();
  return transcript;
}

}  // namespace kaccel::testing
