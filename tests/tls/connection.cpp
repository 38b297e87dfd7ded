#include "tests/tls/connection.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/tls/certificate.hpp"

namespace kaccel::testing {
namespace {

// Weak suites are refused above security level 0.
std::string cipher_list(const Suite& suite) {
  return std::string(suite.cipher) + ":@SECLEVEL=0";
}

[[noreturn]] void fail(const std::string& what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  throw std::runtime_error(what + ": " + text.data());
}

bool set_suite(SSL_CTX* context, const Suite& suite) {
  return suite.version == TLS1_3_VERSION
             ? SSL_CTX_set_ciphersuites(context, suite.cipher) == 1
             : SSL_CTX_set_cipher_list(context, cipher_list(suite).c_str()) == 1;
}

bool wants_more(SSL* end, int result) {
  const int error = SSL_get_error(end, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

}  // namespace

bool has_suite(const Suite& suite) {
  SSL_CTX* context = SSL_CTX_new(TLS_method());
  const bool has = context != nullptr && set_suite(context, suite);
  SSL_CTX_free(context);
  ERR_clear_error();
  return has;
}

Connection::Context Connection::make_context(const TlsLibrary& library, const SSL_METHOD* method,
                                             const Suite& suite) {
  Context context(SSL_CTX_new_ex(library.get(), nullptr, method));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), suite.version) != 1 ||
      SSL_CTX_set_max_proto_version(context.get(), suite.version) != 1 ||
      !set_suite(context.get(), suite)) {
    fail("the suite cannot be set");
  }
  SSL_CTX_set_security_level(context.get(), 0);
  if (!suite.encrypt_then_mac) {
    SSL_CTX_set_options(context.get(), SSL_OP_NO_ENCRYPT_THEN_MAC);
  }
  return context;
}

Connection::Connection(const TlsLibrary& client, const TlsLibrary& server, const Suite& suite)
    : client_context_(make_context(client, TLS_client_method(), suite)),
      server_context_(make_context(server, TLS_server_method(), suite)) {
  const Identity& identity = server_identity();
  if (SSL_CTX_use_certificate(server_context_.get(), identity.certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(server_context_.get(), identity.key.get()) != 1) {
    fail("the server's certificate cannot be set");
  }
  client_.reset(SSL_new(client_context_.get()));
  server_.reset(SSL_new(server_context_.get()));
  BIO* client_bio = nullptr;
  BIO* server_bio = nullptr;
  constexpr std::size_t wire = std::size_t{256} << 10;
  if (client_ == nullptr || server_ == nullptr ||
      BIO_new_bio_pair(&client_bio, wire, &server_bio, wire) != 1) {
    fail("no connection");
  }
  SSL_set_bio(client_.get(), client_bio, client_bio);
  SSL_set_bio(server_.get(), server_bio, server_bio);
  SSL_set_connect_state(client_.get());
  SSL_set_accept_state(server_.get());
  handshake();
}

void Connection::handshake() {
  constexpr int most_rounds = 20;
  for (int round = 0; round < most_rounds; ++round) {
    const int client = SSL_do_handshake(client_.get());
    if (client != 1 && !wants_more(client_.get(), client)) fail("client's handshake");
    const int server = SSL_do_handshake(server_.get());
    if (server != 1 && !wants_more(server_.get(), server)) fail("server's handshake");
    if (client == 1 && server == 1) return;
  }
  fail("the handshake does not end");
}

std::vector<std::uint8_t> Connection::to_server(const std::vector<std::uint8_t>& data) {
  return move(client_.get(), server_.get(), data);
}

std::vector<std::uint8_t> Connection::to_client(const std::vector<std::uint8_t>& data) {
  return move(server_.get(), client_.get(), data);
}

// In pieces of changing size, so that records of many sizes are there.
std::vector<std::uint8_t> Connection::move(SSL* from, SSL* to,
                                           const std::vector<std::uint8_t>& data) {
  constexpr std::array<std::size_t, 6> pieces{16384, 1, 1420, 100'000, 511, 8192};
  std::vector<std::uint8_t> arrived(data.size());
  std::size_t sent = 0;
  std::size_t received = 0;
  for (std::size_t piece = 0; received < data.size(); ++piece) {
    const std::size_t size = std::min(pieces[piece % pieces.size()], data.size() - sent);
    std::size_t done = 0;
    if (size != 0 && SSL_write_ex(from, data.data() + sent, size, &done) != 1) fail("writing");
    sent += done;
    while (received < sent &&
           SSL_read_ex(to, arrived.data() + received, arrived.size() - received, &done) == 1) {
      received += done;
    }
    if (received < sent) fail("reading");
  }
  return arrived;
}

std::string Connection::cipher() const {
  return SSL_get_cipher_name(client_.get());
}

}  // namespace kaccel::testing
