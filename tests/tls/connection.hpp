// A TLS connection between two library contexts of one process.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/tls/tls_library.hpp"

namespace kaccel::testing {

struct Suite {
  const char* name;    // for the test's name
  int version;         // TLS1_2_VERSION or TLS1_3_VERSION
  const char* cipher;  // OpenSSL's name
  bool encrypt_then_mac;
};

// Whether this libssl was built with the suite.
bool has_suite(const Suite& suite);

class Connection {
 public:
  // Throws std::runtime_error with OpenSSL's errors when the handshake fails.
  Connection(const TlsLibrary& client, const TlsLibrary& server, const Suite& suite);

  // Sends `data` from one end and returns what arrives at the other.
  std::vector<std::uint8_t> to_server(const std::vector<std::uint8_t>& data);
  std::vector<std::uint8_t> to_client(const std::vector<std::uint8_t>& data);

  std::string cipher() const;

 private:
  struct Free {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
    void operator()(SSL* connection) const noexcept { SSL_free(connection); }
  };
  using Context = std::unique_ptr<SSL_CTX, Free>;
  using End = std::unique_ptr<SSL, Free>;

  static Context make_context(const TlsLibrary& library, const SSL_METHOD* method,
                              const Suite& suite);
  void handshake();
  static std::vector<std::uint8_t> move(SSL* from, SSL* to, const std::vector<std::uint8_t>& data);

  Context client_context_;
  Context server_context_;
  End client_;
  End server_;
};

}  // namespace kaccel::testing
