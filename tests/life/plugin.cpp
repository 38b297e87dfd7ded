// A plugin of an application that does not itself link libcrypto.

#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

// 0: the bytes are those of the default provider, and with KACCEL_TEST_HARDWARE set hardware made
// them.
extern "C" __attribute__((visibility("default"))) int life_plugin_run();

namespace {

std::uint64_t hardware_calls() {
  OSSL_PROVIDER* kaccel = OSSL_PROVIDER_load(nullptr, "kaccel");
  std::uint64_t calls = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_uint64("hardware-calls", &calls),
                         OSSL_PARAM_construct_end()};
  OSSL_PROVIDER_get_params(kaccel, params);
  OSSL_PROVIDER_unload(kaccel);
  return calls;
}

}  // namespace

extern "C" int life_plugin_run() {
  const std::uint64_t calls = hardware_calls();
  const std::vector<unsigned char> data(16384, 1);
  const std::array<unsigned char, 32> key{5};
  const std::array<unsigned char, 16> iv{6};
  std::vector<std::vector<unsigned char>> results;
  for (const char* properties : {static_cast<const char*>(nullptr), "provider=default"}) {
    EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", properties);
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    std::vector<unsigned char> out(data.size());
    int written = 0;
    const bool ok =
        EVP_EncryptInit_ex2(context, cipher, key.data(), iv.data(), nullptr) == 1 &&
        EVP_EncryptUpdate(context, out.data(), &written, data.data(), int(data.size())) == 1;
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(cipher);
    if (!ok) return 1;
    results.push_back(out);
  }
  if (std::getenv("KACCEL_TEST_HARDWARE") != nullptr && hardware_calls() != calls + 1) return 4;
  return results[0] == results[1] ? 0 : 2;
}
