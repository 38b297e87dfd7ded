// HMAC: by EVP_MAC and as a signature, with digests that have a route and others, keys of any
// length set in any way, messages cut, copied, ended and begun again.

#include <openssl/core_names.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/family.hpp"
#include "tests/fuzz/mac_pair.hpp"
#include "tests/fuzz/signature_pair.hpp"

namespace kaccel::fuzzing {
namespace {

constexpr std::size_t largest_key = 300;  // two blocks of SHA-512 and more
constexpr std::size_t tls_header_size = 13;
constexpr std::size_t tls_key_size = 64;  // TLS's MAC keys are no longer than a block
// What TLS's constant-time code may count on: room for a MAC and padding after the data.
constexpr std::size_t tls_overhead = 64 + 16;

// Digests with a route first; then names for the same; then what has none, or is no digest.
constexpr std::array digests{
    "SHA256",     "SHA1",          "MD5",       "SHA224",
    "SHA384",     "SHA512",        "SHA2-256",  "sha-1",
    "ssl3-md5",   "SHA-224",       "SHA2-384",  "sha512",
    "SHA-256",    "1.3.14.3.2.26", "SSL3-SHA1", "2.16.840.1.101.3.4.2.1",
    "RSA-SHA256", "SHA512-256",    "SHA3-256",  "SHA3-512",
    "MD5-SHA1",   "SHAKE128",      "SM3",       "no such",
    "",
};

struct Stream {
  MacPair mac;
  SignaturePair signature;
  std::size_t tls_size = 0;  // as set; 0: none
  bool tls_header_given = false;
};

class HmacSequence {
 public:
  explicit HmacSequence(const Session& session) : session_(session), input_(session.input) {}

  void run();

 private:
  Stream& add_stream();
  void step(std::size_t call, Stream& stream);
  void init(Stream& stream, bool usual);
  void update(Stream& stream);
  void tls_update(Stream& stream);
  void final(Stream& stream);
  void set(Stream& stream);
  void add_parameters(ParameterList& parameters, const Stream& stream, unsigned which);
  void set_tls(Stream& stream);
  void query(Stream& stream);
  void duplicate(const Stream& stream, bool signature);
  void sign_init(Stream& stream);

  const char* choose_digest() {
    // More often one that has a route.
    const std::size_t choice = input_.byte();
    return digests[choice < 96 ? choice % 6 : choice % digests.size()];
  }
  std::size_t choose_size() {
    return input_.data_size(session_.configuration.threshold(input_.flag()));
  }
  Bytes choose_key() {
    constexpr std::array<std::size_t, 8> usual{16, 32, 64, 20, 0, 65, 128, 129};
    const std::size_t choice = input_.byte();
    const std::size_t size = choice < 128 ? usual[choice % usual.size()] : choice * 2 - 250;
    return input_.grow_bytes(std::min(size, largest_key));
  }

  const Session& session_;
  Input& input_;
  std::vector<Stream> streams_;
};

void HmacSequence::run() {
  streams_.reserve(most_streams);
  init(add_stream(), true);
  for (int calls = 0; calls < most_calls && !input_.is_empty(); ++calls) {
    const std::size_t choice = input_.byte();
    constexpr std::size_t calls_known = 18;
    const std::size_t which = choice / calls_known % streams_.size();
    session_.transcript.note([&] { return "context " + std::to_string(which) + ":"; });
    Stream& stream = streams_[which];
    step(choice % calls_known, stream);
  }
  for (Stream& stream : streams_) {
    stream.mac.compare_sizes();
    if (stream.tls_size == 0) stream.mac.final(EVP_MAX_MD_SIZE, true);
    if (stream.signature.is_ready()) stream.signature.final(EVP_MAX_MD_SIZE);
  }
}

void HmacSequence::step(std::size_t call, Stream& stream) {
  switch (call) {
    case 0:
      return init(stream, true);
    case 1:
    case 2:
      return stream.tls_size != 0 ? tls_update(stream) : update(stream);
    case 3:
      return final(stream);
    case 4:
      return init(stream, false);
    case 5:
      stream.mac.init(nullptr, 0, nullptr);
      return;
    case 6:
      return set(stream);
    case 7:
      return duplicate(stream, false);
    case 8:
      return query(stream);
    case 9:
      return stream.mac.compare_sizes();
    case 10:
      return set_tls(stream);
    case 11:
      session_.transcript.note([] { return std::string("new context"); });
      stream = Stream{MacPair(session_.subjects, session_.transcript), std::move(stream.signature)};
      return;
    case 12:
      return sign_init(stream);
    case 13:
      if (stream.signature.is_ready()) stream.signature.update(input_.grow_bytes(choose_size()));
      return;
    case 14:
      if (stream.signature.is_ready()) stream.signature.final(input_.below(4) * 32);
      return;
    case 15:
      if (stream.signature.is_ready()) duplicate(stream, true);
      return;
    case 16:
      if (stream.signature.is_ready()) {
        stream.signature.sign(input_.grow_bytes(choose_size()), EVP_MAX_MD_SIZE);
      }
      return;
    default:
      if (stream.tls_size == 0) stream.mac.final_xof(input_.below(3) * 32);
      return;
  }
}

Stream& HmacSequence::add_stream() {
  session_.transcript.note([&] { return "new context " + std::to_string(streams_.size()); });
  streams_.push_back({MacPair(session_.subjects, session_.transcript),
                      SignaturePair(session_.subjects, session_.transcript)});
  return streams_.back();
}

// Keys and parameters -----------------------------------------------------------------------------

// Usual: a key, and the digest's name with it.
void HmacSequence::init(Stream& stream, bool usual) {
  const unsigned which = usual ? 1U : input_.byte();
  const bool with_key = usual || (which & 0x40U) == 0;
  ParameterList parameters;
  add_parameters(parameters, stream, which & 0x3fU);
  Bytes key = with_key ? choose_key() : Bytes{};
  const bool is_tls_key = key.size() <= tls_key_size;
  if (stream.tls_size != 0 && !is_tls_key) key.resize(tls_key_size);
  key.reserve(1);  // data() of no bytes must not be NULL
  stream.mac.init(with_key ? key.data() : nullptr, key.size(),
                  parameters.size() == 0 ? nullptr : parameters.get());
}

void HmacSequence::set(Stream& stream) {
  ParameterList parameters;
  add_parameters(parameters, stream, input_.byte());
  stream.mac.set(parameters);
}

void HmacSequence::add_parameters(ParameterList& parameters, const Stream& stream, unsigned which) {
  if ((which & 1U) != 0) parameters.add_text(OSSL_MAC_PARAM_DIGEST, choose_digest());
  if ((which & 2U) != 0) {
    Bytes key = choose_key();
    if (stream.tls_size != 0) key.resize(std::min(key.size(), tls_key_size));
    if ((which & 4U) != 0) {
      parameters.add_null(OSSL_MAC_PARAM_KEY);
    } else {
      parameters.add_octets(OSSL_MAC_PARAM_KEY, key);
    }
  }
  if ((which & 8U) != 0) {
    parameters.add_text(OSSL_MAC_PARAM_PROPERTIES,
                        input_.flag() ? "provider=default" : "provider=none");
  }
  if ((which & 0x10U) != 0) {
    constexpr std::array names{OSSL_MAC_PARAM_DIGEST, OSSL_MAC_PARAM_KEY,
                               OSSL_MAC_PARAM_TLS_DATA_SIZE};
    const char* name = input_.one_of(names);
    const bool is_new = OSSL_PARAM_locate_const(parameters.get(), name) == nullptr;
    if (is_new) parameters.add_misfit(name);
  }
  if ((which & 0x20U) != 0) {
    parameters.add_unsigned(OSSL_MAC_PARAM_DIGEST_ONESHOT, input_.flag() ? 1 : 0);
  }
}

// Data --------------------------------------------------------------------------------------------

void HmacSequence::update(Stream& stream) {
  const Bytes data = input_.grow_bytes(choose_size());
  stream.mac.update(data, data.size());
}

void HmacSequence::final(Stream& stream) {
  const std::size_t choice = input_.byte();
  // In TLS mode OpenSSL writes the MAC of the last record, which may be another digest's.
  const bool ample = choice < 160 || stream.tls_size != 0;
  const std::size_t capacity = ample ? EVP_MAX_MD_SIZE : choice % 70;
  stream.mac.final(capacity, choice % 8 != 7);
}

void HmacSequence::query(Stream& stream) {
  using enum Query::Type;
  QueryList queries;
  const unsigned which = input_.byte();
  if ((which & 1U) == 0) queries.push_back({OSSL_MAC_PARAM_SIZE, number});
  if ((which & 2U) == 0) queries.push_back({OSSL_MAC_PARAM_BLOCK_SIZE, unsigned_number});
  if ((which & 4U) != 0) queries.push_back({OSSL_MAC_PARAM_KEY, octets, 32});
  stream.mac.query(queries);
}

// TLS ---------------------------------------------------------------------------------------------

// OpenSSL's constant-time code takes over, and believes that its caller is libssl.
void HmacSequence::set_tls(Stream& stream) {
  ParameterList parameters;
  const std::size_t size = input_.flag() ? 0 : choose_size() + tls_overhead;
  parameters.add_number(OSSL_MAC_PARAM_TLS_DATA_SIZE, size);
  Bytes key = input_.grow_bytes(input_.below(tls_key_size + 1));
  const bool with_key = size != 0;
  if (with_key) parameters.add_octets(OSSL_MAC_PARAM_KEY, key);
  if (!stream.mac.set(parameters)) return;
  stream.tls_size = size;
}

void HmacSequence::tls_update(Stream& stream) {
  if (!stream.tls_header_given) {
    const std::size_t choice = input_.byte();
    const std::size_t size = choice < 240 ? tls_header_size : choice % 16;
    const bool ok = stream.mac.update(input_.grow_bytes(tls_header_size + 16), size);
    stream.tls_header_given = ok && size == tls_header_size;
    return;
  }
  // The data is as long as was said; how much of it counts is the secret.
  const Bytes data = input_.grow_bytes(stream.tls_size);
  const std::size_t size = std::min(choose_size(), stream.tls_size - tls_overhead);
  stream.mac.update(data, size);
}

// Copies and signatures ---------------------------------------------------------------------------

void HmacSequence::duplicate(const Stream& stream, bool signature) {
  const auto from = static_cast<std::size_t>(&stream - streams_.data());
  if (streams_.size() < most_streams) add_stream();
  const std::size_t to = (from + 1 + input_.below(2)) % streams_.size();
  if (to == from) return;
  session_.transcript.note([&] { return "to context " + std::to_string(to); });
  const Stream& source = streams_[from];
  Stream& target = streams_[to];
  if (signature) {
    target.signature.become_copy_of(source.signature);
  } else {
    target.mac.become_copy_of(source.mac);
    target.tls_size = source.tls_size;
    target.tls_header_given = source.tls_header_given;
  }
}

void HmacSequence::sign_init(Stream& stream) {
  const unsigned which = input_.byte();
  const bool with_key = !stream.signature.is_ready() || (which & 1U) == 0;
  const bool with_digest = (which & 6U) != 6U;
  stream.signature.init(with_digest ? choose_digest() : nullptr, with_key ? choose_key() : Bytes{},
                        with_key);
}

}  // namespace

void run_hmac(const Session& session) {
  HmacSequence(session).run();
}

}  // namespace kaccel::fuzzing
