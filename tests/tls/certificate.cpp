#include "tests/tls/certificate.hpp"

#include <stdexcept>

namespace kaccel::testing {
namespace {

Identity make_identity() {
  Identity identity;
  identity.key.reset(EVP_RSA_gen(2048));
  identity.certificate.reset(X509_new());
  X509* certificate = identity.certificate.get();
  if (identity.key == nullptr || certificate == nullptr) throw std::runtime_error("no RSA key");
  constexpr long one_day = 24L * 60 * 60;
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* host = reinterpret_cast<const unsigned char*>("localhost");
  const bool ok = X509_set_version(certificate, X509_VERSION_3) == 1 &&
                  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
                  X509_gmtime_adj(X509_getm_notBefore(certificate), -one_day) != nullptr &&
                  X509_gmtime_adj(X509_getm_notAfter(certificate), one_day) != nullptr &&
                  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0) == 1 &&
                  X509_set_issuer_name(certificate, name) == 1 &&
                  X509_set_pubkey(certificate, identity.key.get()) == 1 &&
                  X509_sign(certificate, identity.key.get(), EVP_sha256()) > 0;
  if (!ok) throw std::runtime_error("no certificate");
  return identity;
}

}  // namespace

const Identity& server_identity() {
  static const Identity identity = make_identity();
  return identity;
}

}  // namespace kaccel::testing
