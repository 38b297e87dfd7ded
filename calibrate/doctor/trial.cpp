#include "calibrate/doctor/trial.hpp"

#include <dlfcn.h>
#include <openssl/conf.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "calibrate/doctor/openssl_conf.hpp"
#include "calibrate/openssl_context.hpp"

namespace kaccel::calibrate::doctor {
namespace {

struct FreeLibctx {
  void operator()(OSSL_LIB_CTX* libctx) const noexcept { OSSL_LIB_CTX_free(libctx); }
};

constexpr std::size_t trial_bytes = 65'536;

// Between a line's words; in none of them.
constexpr char between = '\x1f';

std::string line(std::string_view what, std::string_view of, std::string_view value) {
  std::string text(what);
  text.append(1, between).append(of).append(1, between).append(value);
  return text;
}

// The newest error that says more than that something failed.
std::string take_errors() {
  std::string text;
  const char* data = nullptr;
  int flags = 0;
  while (const unsigned long code = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) {
    const char* reason = ERR_reason_error_string(code);
    if (!text.empty()) text += "; ";
    text += reason != nullptr ? reason : "system error";
    if ((flags & ERR_TXT_STRING) != 0 && data != nullptr && *data != '\0') {
      text.append(" (").append(data).append(")");
    }
  }
  return text;
}

// Name of the provider of a fetched method, which is freed; "" for none.
template <class Method>
std::string provider_of(Method* method, const OSSL_PROVIDER* (*get)(const Method*),
                        void (*free_method)(Method*)) {
  if (method == nullptr) return {};
  std::string name = OSSL_PROVIDER_get0_name(get(method));
  free_method(method);
  return name;
}

std::string random_provider(OSSL_LIB_CTX* libctx) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes_ex(libctx, bytes.data(), bytes.size(), 0) != 1) return {};
  EVP_RAND_CTX* generator = RAND_get0_public(libctx);
  if (generator == nullptr) return {};
  return OSSL_PROVIDER_get0_name(EVP_RAND_get0_provider(EVP_RAND_CTX_get0_rand(generator)));
}

std::string encrypt(OSSL_LIB_CTX* libctx) {
  const std::unique_ptr<EVP_CIPHER, FreeCipher> cipher(
      EVP_CIPHER_fetch(libctx, trial_cipher, nullptr));
  const std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context(EVP_CIPHER_CTX_new());
  if (!cipher || !context) return {};
  std::array<unsigned char, 32> key{};
  std::array<unsigned char, 16> iv{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i * 7 + 1);
  std::string input(trial_bytes, '\0');
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<char>(i * 31 + i / 256);
  std::string output(trial_bytes + iv.size(), '\0');
  auto* out = reinterpret_cast<unsigned char*>(output.data());
  int written = 0;
  int last = 0;
  if (EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), iv.data(), nullptr) != 1 ||
      EVP_EncryptUpdate(context.get(), out, &written,
                        reinterpret_cast<const unsigned char*>(input.data()),
                        static_cast<int>(input.size())) != 1 ||
      EVP_EncryptFinal_ex(context.get(), out + written, &last) != 1) {
    return {};
  }
  output.resize(static_cast<std::size_t>(written) + static_cast<std::size_t>(last));
  return output;
}

void tell_answers(OSSL_LIB_CTX* libctx, const SayLine& say) {
  say(line("answer", trial_cipher,
           provider_of(EVP_CIPHER_fetch(libctx, trial_cipher, nullptr), EVP_CIPHER_get0_provider,
                       EVP_CIPHER_free)));
  say(line(
      "answer", "SHA-256",
      provider_of(EVP_MD_fetch(libctx, "SHA256", nullptr), EVP_MD_get0_provider, EVP_MD_free)));
  say(line(
      "answer", "HMAC",
      provider_of(EVP_MAC_fetch(libctx, "HMAC", nullptr), EVP_MAC_get0_provider, EVP_MAC_free)));
  say(line(
      "answer", "HKDF",
      provider_of(EVP_KDF_fetch(libctx, "HKDF", nullptr), EVP_KDF_get0_provider, EVP_KDF_free)));
  say(line("answer", "EC keys",
           provider_of(EVP_KEYMGMT_fetch(libctx, "EC", nullptr), EVP_KEYMGMT_get0_provider,
                       EVP_KEYMGMT_free)));
  say(line("answer", trial_random, random_provider(libctx)));
}

void tell_module(OSSL_LIB_CTX* libctx, const SayLine& say) {
  if (OSSL_PROVIDER_available(libctx, "kaccel") != 1) return;
  // A second reference, only to ask.
  OSSL_PROVIDER* provider = OSSL_PROVIDER_load(libctx, "kaccel");
  if (provider == nullptr) return;
  char* version = nullptr;
  char* build_info = nullptr;
  std::array params{OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_VERSION, &version, 0),
                    OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, &build_info, 0),
                    OSSL_PARAM_construct_end()};
  if (OSSL_PROVIDER_get_params(provider, params.data()) == 1) {
    say(line("module", "version", version != nullptr ? version : ""));
    say(line("module", "build info", build_info != nullptr ? build_info : ""));
  }
  OSSL_PROVIDER_unload(provider);
}

int tell_provider(OSSL_PROVIDER* provider, void* say) {
  (*static_cast<const SayLine*>(say))(
      line("provider", OSSL_PROVIDER_get0_name(provider), "active"));
  return 1;
}

// A library context of its own, since this program keeps its default one free of the
// configuration; kaccel itself looks at the file that the environment names.
void live_as_a_program(const std::string& path, const SayLine& say) {
  setenv("OPENSSL_CONF", path.c_str(), 1);
  OpensslConf{path};
  say(line("read", "", ""));
  const std::unique_ptr<OSSL_LIB_CTX, FreeLibctx> libctx(OSSL_LIB_CTX_new());
  if (!libctx) throw OpensslError("OpenSSL gives no library context");
  ERR_clear_error();
  const int loaded = OSSL_LIB_CTX_load_config(libctx.get(), path.c_str());
  const std::string errors = take_errors();
  if (loaded != 1) say(line("refused", "", errors.empty() ? "OpenSSL gives no reason" : errors));
  tell_answers(libctx.get(), say);
  // After the first fetch, which activates what OpenSSL activates by itself.
  OSSL_PROVIDER_do_all(libctx.get(), tell_provider, const_cast<SayLine*>(&say));
  tell_module(libctx.get(), say);
  const std::string output = encrypt(libctx.get());
  const auto software = OpensslContext::with_default();
  const char* const verdict = output.empty()                      ? "failed"
                              : output == encrypt(software.get()) ? "same"
                                                                  : "different";
  say(line("encryption", "", verdict));
}

void take(std::string_view text, Trial& trial) {
  const auto first = text.find(between);
  const auto second = first == std::string_view::npos ? first : text.find(between, first + 1);
  if (second == std::string_view::npos) return;
  const auto what = text.substr(0, first);
  const std::string of(text.substr(first + 1, second - first - 1));
  const std::string value(text.substr(second + 1));
  if (what == "read") trial.was_read = true;
  if (what == "refused") trial.refused = value;
  if (what == "provider") trial.providers.push_back(of);
  if (what == "answer") trial.answers[of] = value;
  if (what == "encryption") trial.encryption = value;
  if (what == "module") (of == "version" ? trial.module_version : trial.build_info) = value;
}

std::string describe_end(const HelperResult& result) {
  switch (result.end) {
    case HelperEnd::finished:
      return {};
    case HelperEnd::timed_out:
    case HelperEnd::stuck:
      return "it did not answer in time";
    case HelperEnd::died:
      return "it " + result.detail;
    default:
      return result.detail;
  }
}

}  // namespace

bool Trial::has(const char* provider) const {
  return std::find(providers.begin(), providers.end(), provider) != providers.end();
}

std::vector<std::string> Trial::missing() const {
  std::vector<std::string> names;
  for (const auto& [name, provider] : answers) {
    if (provider.empty()) names.push_back(name);
  }
  return names;
}

Trial try_configuration(const std::string& path, const HelperLimits& limits) {
  Trial trial;
  const auto result = run_in_helper([&](const SayLine& say) { live_as_a_program(path, say); },
                                    [&](std::string_view text) { take(text, trial); }, limits);
  trial.finished = result.end == HelperEnd::finished;
  trial.end = describe_end(result);
  return trial;
}

LoadFault why_not_loadable(const std::string& module, const HelperLimits& limits) {
  std::string reason;
  const auto load = [&](const SayLine& say) {
    void* loaded = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
      const char* error = dlerror();
      say(error != nullptr ? error : "it cannot be loaded");
    } else if (dlsym(loaded, "OSSL_provider_init") == nullptr) {
      say("it is no provider: it has no function OSSL_provider_init");
    }
  };
  const auto result = run_in_helper(
      load, [&](std::string_view text) { reason = text; }, limits);
  if (result.end == HelperEnd::finished) return {reason};
  return {"loading it: " + describe_end(result), result.end == HelperEnd::died};
}

}  // namespace kaccel::calibrate::doctor
