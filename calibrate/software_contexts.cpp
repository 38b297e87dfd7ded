#include "calibrate/software_contexts.hpp"

namespace kaccel::calibrate {
namespace {

// OpenSSL constructs all methods of a kind when the first one is fetched.
void fill(const OpensslContext& context) {
  EVP_CIPHER_free(EVP_CIPHER_fetch(context.get(), "AES-128-CBC", nullptr));
  EVP_MAC_free(EVP_MAC_fetch(context.get(), "HMAC", nullptr));
  EVP_MD_free(EVP_MD_fetch(context.get(), "SHA2-256", nullptr));
}

}  // namespace

const OpensslContext& SoftwareContexts::of(const Algorithm& algorithm) {
  auto& context = needs_legacy(algorithm) ? with_legacy_ : default_;
  if (!context) {
    context.emplace(OpensslContext::with_software_of(algorithm));
    fill(*context);
  }
  return *context;
}

}  // namespace kaccel::calibrate
