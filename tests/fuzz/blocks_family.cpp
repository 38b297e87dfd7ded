// ECB, CBC and CTR of AES, DES and 3DES: messages cut anywhere, padded or not, past OpenSSL's
// buffer, copied, begun again; CBC's TLS records.

#include <openssl/core_names.h>
#include <openssl/prov_ssl.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/cipher_pair.hpp"
#include "tests/fuzz/family.hpp"

namespace kaccel::fuzzing {
namespace {

using Call = CipherPair::Call;
using Place = CipherPair::Place;

constexpr std::size_t key_room = 64;  // however wrong a key length is set
constexpr std::size_t iv_room = 16;
constexpr std::array<unsigned int, 6> tls_versions{TLS1_2_VERSION, TLS1_VERSION,  TLS1_1_VERSION,
                                                   SSL3_VERSION,   DTLS1_VERSION, 0};

struct Stream {
  CipherPair pair;
  // What goes in and comes out by EVP_CipherUpdate since the last beginning: the rest is held back.
  std::size_t consumed = 0;
  std::size_t produced = 0;
  bool failed = false;  // what is held back is not known
  unsigned int tls_version = 0;
  std::size_t tls_mac_size = 0;
  bool owns_tls_mac = false;  // OpenSSL has it in memory of its own, which a copy would free again

  void begin() {
    consumed = produced = 0;
    failed = false;
  }
  std::size_t held() const { return consumed - produced; }
};

class BlockSequence {
 public:
  BlockSequence(const Session& session, const CipherSubject& subject);

  void run();

 private:
  Stream& add_stream();
  void step(std::size_t call, Stream& stream);
  void init(Stream& stream);
  void update(Stream& stream);
  void cipher(Stream& stream);
  void final(Stream& stream);
  void set_padding(Stream& stream);
  void set(Stream& stream);
  void note_set(Stream& stream, const ParameterList& parameters, bool ok);
  void add_parameters(ParameterList& parameters);
  void set_tls(Stream& stream);
  void tls_record(Stream& stream);
  void query(Stream& stream);
  void ask_tls_mac(Stream& stream);
  void copy(const Stream& stream);

  bool is_ctr() const { return EVP_CIPHER_get_mode(subject_.reference) == EVP_CIPH_CTR_MODE; }
  std::size_t choose_size(const Stream& stream) {
    return input_.data_size(session_.configuration.threshold(stream.pair.is_encrypting()));
  }

  const Session& session_;
  Input& input_;
  const CipherSubject subject_;
  const std::size_t block_;  // bytes; 1 for CTR
  std::array<Bytes, 3> keys_;
  std::vector<Stream> streams_;
};

BlockSequence::BlockSequence(const Session& session, const CipherSubject& subject)
    : session_(session),
      input_(session.input),
      subject_(subject),
      block_(static_cast<std::size_t>(EVP_CIPHER_get_block_size(subject.reference))) {
  for (Bytes& key : keys_) key = input_.grow_bytes(key_room);
}

void BlockSequence::run() {
  streams_.reserve(most_streams);
  init(add_stream());
  for (int calls = 0; calls < most_calls && !input_.is_empty(); ++calls) {
    const std::size_t choice = input_.byte();
    constexpr std::size_t calls_known = 16;
    const std::size_t which = choice / calls_known % streams_.size();
    session_.transcript.note([&] { return "context " + std::to_string(which) + ":"; });
    Stream& stream = streams_[which];
    if (stream.pair.has_cipher()) {
      step(choice % calls_known, stream);
    } else {
      init(stream);
    }
  }
}

void BlockSequence::step(std::size_t call, Stream& stream) {
  switch (call) {
    case 0:
      return init(stream);
    case 1:
    case 2:
    case 3:
    case 4:
      return stream.tls_version == 0 ? update(stream) : tls_record(stream);
    case 5:
      return cipher(stream);
    case 6:
      return final(stream);
    case 7:
      return set_padding(stream);
    case 8:
      return set(stream);
    case 9:
      return query(stream);
    case 10:
      return copy(stream);
    case 11:
      return set_tls(stream);
    case 12:
    case 13:
      if (stream.tls_version == 0) set_tls(stream);
      return stream.tls_version == 0 ? update(stream) : tls_record(stream);
    case 14:
      stream.pair.set_key_length(static_cast<int>(8 * input_.below(5)));
      return;
    default:
      // DES has random keys with the right parity.
      stream.pair.control(EVP_CTRL_RAND_KEY, 0, Bytes(key_room));
      return;
  }
}

Stream& BlockSequence::add_stream() {
  session_.transcript.note([&] { return "new context " + std::to_string(streams_.size()); });
  return streams_.emplace_back(Stream{CipherPair(subject_, session_.transcript)});
}

void BlockSequence::init(Stream& stream) {
  const unsigned how = input_.byte();
  // Zeros, of which an input that is too short is full, make the usual call.
  const bool name_cipher = !stream.pair.has_cipher() || (how & 0x30U) == 0x30U;
  const bool with_key = (how & 1U) == 0;
  const bool with_iv = (how & 2U) == 0;
  constexpr std::array<int, 4> directions{1, 0, -1, 0};
  const int direction = directions[how >> 2U & 3U];
  const Bytes& key = keys_[(how >> 6U) % keys_.size()];
  const Bytes iv = input_.grow_bytes(iv_room);
  ParameterList parameters;
  const bool with_parameters = (how & 0x30U) == 0x10U;
  if (with_parameters) add_parameters(parameters);
  if (name_cipher) {
    stream.tls_version = 0;
    stream.tls_mac_size = 0;
    stream.owns_tls_mac = false;
  }
  const bool ok =
      stream.pair.init({name_cipher, with_key ? key.data() : nullptr, with_iv ? iv.data() : nullptr,
                        direction, with_parameters ? parameters.get() : nullptr});
  if (ok) stream.begin();
  note_set(stream, parameters, ok);
}

// Data --------------------------------------------------------------------------------------------

void BlockSequence::update(Stream& stream) {
  const unsigned how = input_.byte();
  const Bytes data = input_.grow_bytes(choose_size(stream));
  const bool in_place = (how & 1U) != 0 && !stream.failed;
  const auto moved = stream.pair.move(
      {Call::update, in_place ? Place::in_place : Place::apart, in_place ? stream.held() : 0},
      data);
  if (moved.ok) {
    stream.consumed += data.size();
    stream.produced += moved.written;
  } else {
    stream.failed = true;
  }
}

// EVP_Cipher() goes past the buffer. Of a part of a block OpenSSL would read all of it.
void BlockSequence::cipher(Stream& stream) {
  const unsigned how = input_.byte();
  std::size_t size = choose_size(stream);
  size -= size % block_;
  const bool nothing = (how & 0x1eU) == 0x1eU;
  const Place place = (how & 1U) != 0 ? Place::in_place : Place::apart;
  if (nothing) size = 0;
  const auto moved =
      stream.pair.move({Call::cipher, nothing ? Place::no_input : place}, input_.grow_bytes(size));
  if (!moved.ok) stream.failed = true;
}

void BlockSequence::final(Stream& stream) {
  if (stream.pair.final().ok) {
    stream.begin();
  } else {
    stream.failed = true;
  }
}

// Parameters --------------------------------------------------------------------------------------

void BlockSequence::set_padding(Stream& stream) {
  stream.pair.set_padding(input_.flag() ? 1 : 0);
}

void BlockSequence::set(Stream& stream) {
  ParameterList parameters;
  add_parameters(parameters);
  note_set(stream, parameters, stream.pair.set(parameters));
}

// Right and wrong ones, several at once.
void BlockSequence::add_parameters(ParameterList& parameters) {
  const unsigned which = input_.byte();
  if ((which & 1U) != 0) parameters.add_unsigned(OSSL_CIPHER_PARAM_PADDING, which >> 7U);
  if ((which & 2U) != 0) parameters.add_unsigned(OSSL_CIPHER_PARAM_USE_BITS, which >> 7U);
  if ((which & 4U) != 0) parameters.add_unsigned(OSSL_CIPHER_PARAM_NUM, which >> 4U);
  if ((which & 8U) != 0) parameters.add_number(OSSL_CIPHER_PARAM_KEYLEN, which & 0xf0U);
  if ((which & 0x70U) == 0x70U) {
    constexpr std::array names{OSSL_CIPHER_PARAM_PADDING, OSSL_CIPHER_PARAM_NUM,
                               OSSL_CIPHER_PARAM_TLS_VERSION, OSSL_CIPHER_PARAM_USE_BITS};
    const char* name = input_.one_of(names);
    const bool is_new = OSSL_PARAM_locate_const(parameters.get(), name) == nullptr;
    if (is_new) parameters.add_misfit(name);
  } else if ((which & 0x70U) == 0x60U) {
    parameters.add_unsigned(OSSL_CIPHER_PARAM_TLS_VERSION, input_.one_of(tls_versions));
  }
}

void BlockSequence::note_set(Stream& stream, const ParameterList& parameters, bool ok) {
  const OSSL_PARAM* p = OSSL_PARAM_locate_const(parameters.get(), OSSL_CIPHER_PARAM_TLS_VERSION);
  unsigned int version = 0;
  // Of a refused list it may have been taken: as a record its data goes either way.
  if (p != nullptr && OSSL_PARAM_get_uint(p, &version) == 1 && (ok || version != 0)) {
    stream.tls_version = version;
  }
  if (!ok) stream.failed = true;
}

void BlockSequence::query(Stream& stream) {
  using enum Query::Type;
  constexpr std::array<std::size_t, 4> capacities{16, 8, 32, 7};
  const unsigned which = input_.byte();
  const std::size_t capacity = capacities[which & 3U];
  const auto iv_type = (which & 4U) != 0 ? pointer : octets;
  QueryList queries;
  if ((which & 8U) == 0) queries.push_back({OSSL_CIPHER_PARAM_IV, iv_type, capacity});
  if ((which & 0x10U) == 0) queries.push_back({OSSL_CIPHER_PARAM_UPDATED_IV, iv_type, capacity});
  if ((which & 0x20U) == 0) {
    queries.push_back({OSSL_CIPHER_PARAM_NUM, unsigned_number});
    queries.push_back({OSSL_CIPHER_PARAM_PADDING, unsigned_number});
    queries.push_back({OSSL_CIPHER_PARAM_KEYLEN, number});
    queries.push_back({OSSL_CIPHER_PARAM_IVLEN, number});
  }
  stream.pair.query(queries);
}

// TLS ---------------------------------------------------------------------------------------------

void BlockSequence::set_tls(Stream& stream) {
  constexpr std::array<std::size_t, 5> mac_sizes{20, 0, 32, 48, 16};
  const std::size_t mac_size = input_.one_of(mac_sizes);
  const unsigned int version = input_.one_of(tls_versions);
  ParameterList parameters;
  parameters.add_number(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, mac_size);
  parameters.add_unsigned(OSSL_CIPHER_PARAM_TLS_VERSION, version);
  if (!stream.pair.set(parameters)) return;
  stream.tls_version = version;
  stream.tls_mac_size = mac_size;
}

// One record an update, in place. To be decrypted it has at least a block: OpenSSL takes an
// explicit IV off without a look.
void BlockSequence::tls_record(Stream& stream) {
  const unsigned how = input_.byte();
  std::size_t size = choose_size(stream);
  if (!stream.pair.is_encrypting()) size = std::max(size, block_);
  if ((how & 1U) == 0) size -= size % block_;
  constexpr std::array places{Place::in_place, Place::in_place, Place::in_place, Place::apart};
  const Place place = places[how >> 1U & 3U];
  const auto moved = stream.pair.move({Call::update, place, 0, true}, input_.grow_bytes(size));
  const bool takes_mac_off =
      stream.tls_version != 0 && stream.tls_mac_size != 0 && !stream.pair.is_encrypting();
  if (takes_mac_off && !is_ctr()) {
    stream.owns_tls_mac = true;
    if (moved.ok) ask_tls_mac(stream);
  }
  if (!moved.ok) stream.failed = true;
}

void BlockSequence::ask_tls_mac(Stream& stream) {
  stream.pair.query({{OSSL_CIPHER_PARAM_TLS_MAC, Query::Type::pointer, stream.tls_mac_size}});
}

void BlockSequence::copy(const Stream& stream) {
  if (stream.owns_tls_mac) return;
  const auto from = static_cast<std::size_t>(&stream - streams_.data());
  if (streams_.size() < most_streams) add_stream();
  const std::size_t to = (from + 1 + input_.below(2)) % streams_.size();
  if (to == from) return;
  session_.transcript.note([&] { return "to context " + std::to_string(to); });
  const Stream& source = streams_[from];
  Stream& target = streams_[to];
  target.pair.copy(source.pair);
  target.consumed = source.consumed;
  target.produced = source.produced;
  target.failed = source.failed;
  target.tls_version = source.tls_version;
  target.tls_mac_size = source.tls_mac_size;
  target.owns_tls_mac = false;
}

}  // namespace

void run_blocks(const Session& session) {
  constexpr std::array names{"AES-128-CBC", "AES-128-CTR", "AES-128-ECB", "DES-EDE3-CBC",
                             "AES-256-CBC", "AES-256-CTR", "AES-256-ECB", "DES-EDE3-ECB",
                             "AES-192-CBC", "AES-192-CTR", "AES-192-ECB", "DES-EDE-CBC",
                             "DES-CBC",     "DES-EDE-ECB", "DES-ECB",     "AES-128-CBC"};
  const char* name = session.input.one_of(names);
  session.transcript.note([&] { return std::string(name); });
  const auto subject = session.subjects.cipher(find_algorithm(name));
  if (subject) BlockSequence(session, *subject).run();
}

}  // namespace kaccel::fuzzing
