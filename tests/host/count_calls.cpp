// One kind of OpenSSL call in a loop, for callgrind to count:
//
//   valgrind --tool=callgrind --toggle-collect=measured_calls
//     count-calls PROPERTIES CALL ALGORITHM SIZE ITERATIONS
//
// PROPERTIES: EVP's property query, e.g. provider=default; the providers come from OPENSSL_CONF.
// CALL: update (EVP_CipherUpdate), cipher (EVP_Cipher), rekey (init with key and IV), iv (init with
// an IV alone), packet (IV and one update), message (of a GCM cipher: IV, AAD, one update, tag),
// mac (a message of HMAC with the digest ALGORITHM, under the same key); new-packet, new-message
// and new-mac do the same with a new context each time, from its making to its freeing. The loop is
// the same for every provider, so it drops out of a difference.

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace {

constexpr std::size_t largest_size = 1 << 16;
constexpr unsigned warm_up_iterations = 4;  // the first call also binds symbols

enum class Call {
  update,
  cipher,
  rekey,
  iv,
  packet,
  message,
  mac,
  new_packet,
  new_message,
  new_mac
};

alignas(64) std::array<unsigned char, largest_size> input;
alignas(64) std::array<unsigned char, largest_size + 64> output;
alignas(64) std::array<unsigned char, 64> key;
alignas(64) std::array<unsigned char, 16> iv;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "count-calls: %s\n", what);
  ERR_print_errors_fp(stderr);
  std::exit(1);
}

std::optional<Call> call_by_name(std::string_view name) {
  if (name == "update") return Call::update;
  if (name == "cipher") return Call::cipher;
  if (name == "rekey") return Call::rekey;
  if (name == "iv") return Call::iv;
  if (name == "message") return Call::message;
  if (name == "mac") return Call::mac;
  if (name == "packet") return Call::packet;
  if (name == "new-packet") return Call::new_packet;
  if (name == "new-message") return Call::new_message;
  if (name == "new-mac") return Call::new_mac;
  return std::nullopt;
}

// What is fetched and one context of it; of the two kinds, the one that is called.
struct Contexts {
  EVP_CIPHER* fetched_cipher = nullptr;
  EVP_MAC* fetched_mac = nullptr;
  char* digest = nullptr;
  EVP_CIPHER_CTX* cipher = nullptr;
  EVP_MAC_CTX* mac = nullptr;
};

EVP_CIPHER_CTX* new_cipher_context(const EVP_CIPHER* cipher) {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  if (context == nullptr ||
      EVP_CipherInit_ex2(context, cipher, key.data(), iv.data(), 1, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context, 0) != 1) {
    give_up("the cipher cannot be set up");
  }
  return context;
}

EVP_MAC_CTX* new_mac_context(EVP_MAC* mac, char* digest) {
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
  const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                          OSSL_PARAM_construct_end()};
  if (context == nullptr || EVP_MAC_init(context, key.data(), 32, params.data()) != 1) {
    give_up("the MAC cannot be set up");
  }
  return context;
}

int set_iv(EVP_CIPHER_CTX* context) {
  return EVP_CipherInit_ex2(context, nullptr, nullptr, iv.data(), -1, nullptr);
}

int data_once(EVP_CIPHER_CTX* context, int size) {
  int out_size = 0;
  return EVP_CipherUpdate(context, output.data(), &out_size, input.data(), size);
}

// After the IV.
int gcm_once(EVP_CIPHER_CTX* context, int size) {
  constexpr int aad_size = 13;
  int out_size = 0;
  return EVP_CipherUpdate(context, nullptr, &out_size, input.data(), aad_size) == 1 &&
         data_once(context, size) == 1 &&
         EVP_CipherFinal_ex(context, output.data(), &out_size) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, output.data()) == 1;
}

// After the init.
int mac_once(EVP_MAC_CTX* context, int size) {
  std::size_t out_size = 0;
  return EVP_MAC_update(context, input.data(), static_cast<std::size_t>(size)) == 1 &&
         EVP_MAC_final(context, output.data(), &out_size, EVP_MAX_MD_SIZE) == 1;
}

int new_context_once(const Contexts& contexts, Call call, int size) {
  if (call == Call::new_mac) {
    EVP_MAC_CTX* context = new_mac_context(contexts.fetched_mac, contexts.digest);
    const int ok = mac_once(context, size);
    EVP_MAC_CTX_free(context);
    return ok;
  }
  EVP_CIPHER_CTX* context = new_cipher_context(contexts.fetched_cipher);
  const int ok = call == Call::new_message ? gcm_once(context, size) : data_once(context, size);
  EVP_CIPHER_CTX_free(context);
  return ok;
}

int call_once(const Contexts& contexts, Call call, int size) {
  EVP_CIPHER_CTX* context = contexts.cipher;
  switch (call) {
    case Call::update:
      return data_once(context, size);
    case Call::cipher:
      return EVP_Cipher(context, output.data(), input.data(), static_cast<unsigned int>(size)) > 0;
    case Call::rekey:
      key[0] = static_cast<unsigned char>(key[0] + 1);
      return EVP_CipherInit_ex2(context, nullptr, key.data(), iv.data(), -1, nullptr);
    case Call::iv:
      return set_iv(context);
    case Call::packet:
      return set_iv(context) == 1 && data_once(context, size) == 1;
    case Call::message:
      return set_iv(context) == 1 && gcm_once(context, size) == 1;
    case Call::mac:
      return EVP_MAC_init(contexts.mac, nullptr, 0, nullptr) == 1 &&
             mac_once(contexts.mac, size) == 1;
    case Call::new_packet:
    case Call::new_message:
    case Call::new_mac:
      return new_context_once(contexts, call, size);
  }
  return 0;
}

}  // namespace

// The name is given to callgrind.
extern "C" __attribute__((noinline)) int measured_calls(const void* contexts, int call, int size,
                                                        unsigned iterations) {
  int ok = 1;
  for (unsigned i = 0; i < iterations; ++i) {
    ok &= call_once(*static_cast<const Contexts*>(contexts), static_cast<Call>(call), size);
  }
  return ok;
}

static Contexts make_cipher(const char* properties, const char* algorithm) {
  EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, algorithm, properties);
  if (cipher == nullptr) give_up("the cipher is not there");
  return {.fetched_cipher = cipher, .cipher = new_cipher_context(cipher)};
}

static Contexts make_mac(const char* properties, char* digest) {
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", properties);
  if (mac == nullptr) give_up("HMAC is not there");
  return {.fetched_mac = mac, .digest = digest, .mac = new_mac_context(mac, digest)};
}

int main(int argc, char** argv) {
  if (argc != 6) give_up("usage: count-calls PROPERTIES CALL ALGORITHM SIZE ITERATIONS");
  const auto call = call_by_name(argv[2]);
  if (!call) give_up("no such CALL: see the head of count_calls.cpp");
  const int size = std::atoi(argv[4]);
  if (size < 1 || static_cast<std::size_t>(size) > largest_size) give_up("SIZE is out of range");
  const auto iterations = static_cast<unsigned>(std::atoi(argv[5]));

  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(3 * i + 1);
  const bool mac = *call == Call::mac || *call == Call::new_mac;
  const Contexts contexts = mac ? make_mac(argv[1], argv[3]) : make_cipher(argv[1], argv[3]);
  for (unsigned i = 0; i < warm_up_iterations; ++i) {
    if (call_once(contexts, *call, size) != 1) give_up("a call failed");
  }
  if (measured_calls(&contexts, static_cast<int>(*call), size, iterations) != 1) {
    give_up("a measured call failed");
  }
  EVP_CIPHER_CTX_free(contexts.cipher);
  EVP_MAC_CTX_free(contexts.mac);
  EVP_CIPHER_free(contexts.fetched_cipher);
  EVP_MAC_free(contexts.fetched_mac);
  return 0;
}
