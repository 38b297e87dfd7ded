// Loads kaccel as applications do and prints, a line of JSON for each configuration file, what such
// an application can see: whether kaccel is there, its build info, the error queue, and whether
// AES-128-CBC through kaccel gives the right bytes.
//
//   load-errors config FILE...   OSSL_LIB_CTX_load_config, as at an application's start
//   load-errors load FILE...     the same, then OSSL_PROVIDER_load("kaccel")
//   load-errors default          OSSL_PROVIDER_load("kaccel") in the default library context

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using nlohmann::json;

// Empties the queue, oldest first.
json take_errors() {
  json errors = json::array();
  const char* data = nullptr;
  const char* file = nullptr;
  const char* function = nullptr;
  int line = 0;
  int flags = 0;
  while (const unsigned long code = ERR_get_error_all(&file, &line, &function, &data, &flags)) {
    const char* library = ERR_lib_error_string(code);
    const char* reason = ERR_reason_error_string(code);
    errors.push_back({{"library", library == nullptr ? "" : library},
                      {"reason", reason == nullptr ? "" : reason},
                      {"text", (flags & ERR_TXT_STRING) != 0 && data != nullptr ? data : ""}});
  }
  return errors;
}

// FIPS 197's example key and block, in CBC mode with an IV of zeros.
bool ciphers_right(OSSL_LIB_CTX* context) {
  constexpr std::array<unsigned char, 16> key{0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                                              0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
  constexpr std::array<unsigned char, 16> plain{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                                0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
  constexpr std::array<unsigned char, 16> secret{0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                                 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
  constexpr std::array<unsigned char, 16> iv{};
  std::array<unsigned char, 32> out{};
  int size = 0;
  EVP_CIPHER* cipher = EVP_CIPHER_fetch(context, "AES-128-CBC", "provider=kaccel");
  EVP_CIPHER_CTX* operation = EVP_CIPHER_CTX_new();
  const bool right =
      cipher != nullptr && operation != nullptr &&
      EVP_EncryptInit_ex2(operation, cipher, key.data(), iv.data(), nullptr) == 1 &&
      EVP_EncryptUpdate(operation, out.data(), &size, plain.data(), plain.size()) == 1 &&
      size == 16 && std::memcmp(out.data(), secret.data(), secret.size()) == 0;
  EVP_CIPHER_CTX_free(operation);
  EVP_CIPHER_free(cipher);
  return right;
}

std::string build_info(const OSSL_PROVIDER* provider) {
  const char* text = nullptr;
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, const_cast<char**>(&text), 0),
      OSSL_PARAM_construct_end()};
  return OSSL_PROVIDER_get_params(provider, params) == 1 && text != nullptr ? text : "";
}

// `explicitly`: by OSSL_PROVIDER_load, whatever the configuration activated.
json look(OSSL_LIB_CTX* context, bool configured, bool explicitly) {
  json seen{{"configured", configured}, {"errors_of_config", take_errors()}};
  OSSL_PROVIDER* provider = nullptr;
  if (explicitly) {
    provider = OSSL_PROVIDER_load(context, "kaccel");
    seen["errors_of_load"] = take_errors();
  }
  seen["active"] = OSSL_PROVIDER_available(context, "kaccel") == 1;
  seen["default_active"] = OSSL_PROVIDER_available(context, "default") == 1;
  // A second reference, only to ask; the provider itself is loaded once.
  OSSL_PROVIDER* asked = seen["active"] ? OSSL_PROVIDER_load(context, "kaccel") : nullptr;
  seen["build_info"] = asked == nullptr ? "" : build_info(asked);
  take_errors();
  seen["ciphers_right"] = ciphers_right(context);
  seen["errors_of_use"] = take_errors();
  if (asked != nullptr) OSSL_PROVIDER_unload(asked);
  if (provider != nullptr) OSSL_PROVIDER_unload(provider);
  return seen;
}

void print(const json& seen) {
  std::puts(seen.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "default") {
    print(look(nullptr, OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr) == 1, true));
    return 0;
  }
  if (mode != "config" && mode != "load") {
    std::fputs("usage: load-errors config|load FILE...  or  load-errors default\n", stderr);
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    // kaccel looks for misspelt keys in the file that OPENSSL_CONF names.
    setenv("OPENSSL_CONF", argv[i], 1);
    OSSL_LIB_CTX* context = OSSL_LIB_CTX_new();
    const bool configured = OSSL_LIB_CTX_load_config(context, argv[i]) == 1;
    print(look(context, configured, mode == "load"));
    OSSL_LIB_CTX_free(context);
  }
  return 0;
}
