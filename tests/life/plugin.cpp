// A plugin of an application that does not itself link libcrypto.

#include <openssl/evp.h>

#include <array>
#include <vector>

// 0: the bytes are those of the default provider.
extern "C" __attribute__((visibility("default"))) int life_plugin_run();

extern "C" int life_plugin_run() {
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
  return results[0] == results[1] ? 0 : 2;
}
