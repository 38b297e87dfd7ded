// A server's RSA key and a certificate it signed itself, made for one run.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace kaccel::testing {

struct FreeCertificate {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
};

struct Identity {
  std::unique_ptr<EVP_PKEY, FreeCertificate> key;
  std::unique_ptr<X509, FreeCertificate> certificate;
};

// Throws std::runtime_error when OpenSSL will not. Made once a process.
const Identity& server_identity();

}  // namespace kaccel::testing
