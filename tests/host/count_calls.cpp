// One kind of OpenSSL call in a loop, for callgrind to count:
//
//   valgrind --tool=callgrind --toggle-collect=measured_calls
//     count-calls PROPERTIES CALL ALGORITHM SIZE ITERATIONS
//
// PROPERTIES: EVP's property query, e.g. provider=default; the providers come from OPENSSL_CONF.
// CALL: update (EVP_CipherUpdate), cipher (EVP_Cipher), rekey (init with key and IV), iv (init with
// an IV alone), message (of a GCM cipher: IV, AAD, one update, tag), mac (a message of HMAC with
// the digest ALGORITHM, under the same key). The loop is the same for every provider, so it drops
// out of a difference.

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

enum class Call { update, cipher, rekey, iv, message, mac };

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
  return std::nullopt;
}

// One of the two, by the kind of call.
struct Contexts {
  EVP_CIPHER_CTX* cipher = nullptr;
  EVP_MAC_CTX* mac = nullptr;
};

int message_once(EVP_CIPHER_CTX* context, int size) {
  constexpr int aad_size = 13;
  int out_size = 0;
  return EVP_CipherInit_ex2(context, nullptr, nullptr, iv.data(), -1, nullptr) == 1 &&
         EVP_CipherUpdate(context, nullptr, &out_size, input.data(), aad_size) == 1 &&
         EVP_CipherUpdate(context, output.data(), &out_size, input.data(), size) == 1 &&
         EVP_CipherFinal_ex(context, output.data(), &out_size) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, output.data()) == 1;
}

int mac_once(EVP_MAC_CTX* context, int size) {
  std::size_t out_size = 0;
  return EVP_MAC_init(context, nullptr, 0, nullptr) == 1 &&
         EVP_MAC_update(context, input.data(), static_cast<std::size_t>(size)) == 1 &&
         EVP_MAC_final(context, output.data(), &out_size, EVP_MAX_MD_SIZE) == 1;
}

int call_once(const Contexts& contexts, Call call, int size) {
  EVP_CIPHER_CTX* context = contexts.cipher;
  int out_size = 0;
  switch (call) {
    case Call::update:
      return EVP_CipherUpdate(context, output.data(), &out_size, input.data(), size);
    case Call::cipher:
      return EVP_Cipher(context, output.data(), input.data(), static_cast<unsigned int>(size)) > 0;
    case Call::rekey:
      key[0] = static_cast<unsigned char>(key[0] + 1);
      return EVP_CipherInit_ex2(context, nullptr, key.data(), iv.data(), -1, nullptr);
    case Call::iv:
      return EVP_CipherInit_ex2(context, nullptr, nullptr, iv.data(), -1, nullptr);
    case Call::message:
      return message_once(context, size);
    case Call::mac:
      return mac_once(contexts.mac, size);
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

static EVP_CIPHER_CTX* make_cipher(const char* properties, const char* algorithm) {
  EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, algorithm, properties);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  if (cipher == nullptr || context == nullptr ||
      EVP_CipherInit_ex2(context, cipher, key.data(), iv.data(), 1, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context, 0) != 1) {
    give_up("the cipher cannot be set up");
  }
  EVP_CIPHER_free(cipher);  // the context has its own reference
  return context;
}

static EVP_MAC_CTX* make_mac(const char* properties, char* digest) {
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", properties);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
  const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                          OSSL_PARAM_construct_end()};
  if (context == nullptr || EVP_MAC_init(context, key.data(), 32, params.data()) != 1) {
    give_up("the MAC cannot be set up");
  }
  EVP_MAC_free(mac);
  return context;
}

int main(int argc, char** argv) {
  if (argc != 6) give_up("usage: count-calls PROPERTIES CALL ALGORITHM SIZE ITERATIONS");
  const auto call = call_by_name(argv[2]);
  if (!call) give_up("CALL is update, cipher, rekey, iv, message or mac");
  const int size = std::atoi(argv[4]);
  if (size < 1 || static_cast<std::size_t>(size) > largest_size) give_up("SIZE is out of range");
  const auto iterations = static_cast<unsigned>(std::atoi(argv[5]));

  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(3 * i + 1);
  const Contexts contexts = *call == Call::mac ? Contexts{nullptr, make_mac(argv[1], argv[3])}
                                               : Contexts{make_cipher(argv[1], argv[3]), nullptr};
  for (unsigned i = 0; i < warm_up_iterations; ++i) {
    if (call_once(contexts, *call, size) != 1) give_up("a call failed");
  }
  if (measured_calls(&contexts, static_cast<int>(*call), size, iterations) != 1) {
    give_up("a measured call failed");
  }
  EVP_CIPHER_CTX_free(contexts.cipher);
  EVP_MAC_CTX_free(contexts.mac);
  return 0;
}
