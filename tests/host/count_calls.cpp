// One kind of OpenSSL call in a loop, for callgrind to count:
//
//   valgrind --tool=callgrind --toggle-collect=measured_calls
//     count-calls PROPERTIES CALL ALGORITHM SIZE ITERATIONS
//
// PROPERTIES: EVP's property query, e.g. provider=default; the providers come from OPENSSL_CONF.
// CALL: update (EVP_CipherUpdate), cipher (EVP_Cipher), rekey (init with key and IV), iv (init with
// an IV alone). The loop is the same for every provider, so it drops out of a difference.

#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace {

constexpr std::size_t largest_size = 1 << 16;
constexpr unsigned warm_up_iterations = 4;  // the first call also binds symbols

enum class Call { update, cipher, rekey, iv };

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
  return std::nullopt;
}

int call_once(EVP_CIPHER_CTX* context, Call call, int size) {
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
  }
  return 0;
}

}  // namespace

// The name is given to callgrind.
extern "C" __attribute__((noinline)) int measured_calls(EVP_CIPHER_CTX* context, int call, int size,
                                                        unsigned iterations) {
  int ok = 1;
  for (unsigned i = 0; i < iterations; ++i) ok &= call_once(context, static_cast<Call>(call), size);
  return ok;
}

int main(int argc, char** argv) {
  if (argc != 6) give_up("usage: count-calls PROPERTIES CALL ALGORITHM SIZE ITERATIONS");
  const auto call = call_by_name(argv[2]);
  if (!call) give_up("CALL is update, cipher, rekey or iv");
  const int size = std::atoi(argv[4]);
  if (size < 1 || static_cast<std::size_t>(size) > largest_size) give_up("SIZE is out of range");
  const auto iterations = static_cast<unsigned>(std::atoi(argv[5]));

  EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, argv[3], argv[1]);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  if (cipher == nullptr || context == nullptr ||
      EVP_CipherInit_ex2(context, cipher, key.data(), iv.data(), 1, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context, 0) != 1) {
    give_up("the cipher cannot be set up");
  }
  for (unsigned i = 0; i < warm_up_iterations; ++i) {
    if (call_once(context, *call, size) != 1) give_up("a call failed");
  }
  if (measured_calls(context, static_cast<int>(*call), size, iterations) != 1) {
    give_up("a measured call failed");
  }
  EVP_CIPHER_CTX_free(context);
  EVP_CIPHER_free(cipher);
  return 0;
}
