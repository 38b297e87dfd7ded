#include "calibrate/openssl_context.hpp"

#include <openssl/err.h>
#include <openssl/params.h>

#include <array>
#include <string>

#include "provider/embed.hpp"

namespace kaccel::calibrate {
namespace {

std::string with_reason(std::string what) {
  const auto code = ERR_peek_last_error();
  if (const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr) {
    what.append(": ").append(reason);
  }
  ERR_clear_error();
  return what;
}

}  // namespace

OpensslError::OpensslError(const std::string& what) : std::runtime_error(with_reason(what)) {}

bool needs_legacy(const Algorithm& algorithm) noexcept {
  return algorithm.kernel_algorithm == kernel::Algorithm::ecb_des ||
         algorithm.kernel_algorithm == kernel::Algorithm::cbc_des;
}

bool legacy_is_installed() noexcept {
  OSSL_LIB_CTX* libctx = OSSL_LIB_CTX_new();
  OSSL_PROVIDER* legacy = libctx != nullptr ? OSSL_PROVIDER_load(libctx, "legacy") : nullptr;
  const bool installed = legacy != nullptr;
  if (installed) OSSL_PROVIDER_unload(legacy);
  OSSL_LIB_CTX_free(libctx);
  ERR_clear_error();
  return installed;
}

OpensslContext::OpensslContext() : libctx_(OSSL_LIB_CTX_new()) {
  if (!libctx_) throw OpensslError("OpenSSL gives no library context");
}

OpensslContext OpensslContext::with_default() {
  OpensslContext context;
  context.provider_.reset(OSSL_PROVIDER_load(context.get(), "default"));
  if (!context.provider_) throw OpensslError("OpenSSL's default provider does not load");
  return context;
}

OpensslContext OpensslContext::with_software_of(const Algorithm& algorithm) {
  auto context = with_default();
  if (needs_legacy(algorithm)) {
    context.legacy_.reset(OSSL_PROVIDER_load(context.get(), "legacy"));
    if (!context.legacy_) throw OpensslError("OpenSSL's legacy provider does not load");
  }
  return context;
}

OpensslContext OpensslContext::with_kaccel(const Settings& settings, kernel::Transport& transport) {
  OpensslContext context;
  context.provider_.reset(load_embedded(context.get(), settings, &transport, Offered::only_routed));
  if (!context.provider_) throw OpensslError("kaccel does not load");
  return context;
}

OpensslContext::Counters OpensslContext::counters() const {
  Counters counters;
  std::array params{OSSL_PARAM_construct_uint64("requests", &counters.requests),
                    OSSL_PARAM_construct_uint64("fallbacks", &counters.fallbacks),
                    OSSL_PARAM_construct_end()};
  if (OSSL_PROVIDER_get_params(provider_.get(), params.data()) != 1 ||
      OSSL_PARAM_modified(&params[0]) == 0 || OSSL_PARAM_modified(&params[1]) == 0) {
    throw OpensslError("kaccel does not tell its counters");
  }
  return counters;
}

CipherStream::CipherStream(const OpensslContext& context, const char* algorithm,
                           kernel::Direction direction, std::span<const std::uint8_t> key,
                           std::span<const std::uint8_t> iv)
    : cipher_(EVP_CIPHER_fetch(context.get(), algorithm, nullptr)), context_(EVP_CIPHER_CTX_new()) {
  if (!cipher_) throw OpensslError(std::string("no cipher ") + algorithm);
  const int encrypt = direction == kernel::Direction::encrypt ? 1 : 0;
  if (!context_ || EVP_CipherInit_ex2(context_.get(), cipher_.get(), key.data(),
                                      iv.empty() ? nullptr : iv.data(), encrypt, nullptr) != 1) {
    throw OpensslError(std::string("cannot start ") + algorithm);
  }
  EVP_CIPHER_CTX_set_padding(context_.get(), 0);
}

std::size_t CipherStream::update(const std::uint8_t* input, std::size_t size,
                                 std::uint8_t* output) {
  int written = 0;
  if (EVP_CipherUpdate(context_.get(), output, &written, input, static_cast<int>(size)) != 1) {
    throw OpensslError("an update failed");
  }
  return static_cast<std::size_t>(written);
}

}  // namespace kaccel::calibrate
