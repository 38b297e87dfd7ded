// AES-XTS: data units of all sizes under a tweak that stays, keys and tweaks in any order, keys
// that must be refused.

#include <openssl/core_names.h>

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

constexpr std::size_t tweak_size = 16;
constexpr std::size_t largest_key = 64;

struct Stream {
  CipherPair pair;
  bool has_key = false;
};

class XtsSequence {
 public:
  XtsSequence(const Session& session, const CipherSubject& subject);

  void run();

 private:
  Stream& add_stream();
  void step(std::size_t call, Stream& stream);
  void init(Stream& stream);
  void add_parameters(ParameterList& parameters);
  void unit(CipherPair& pair);
  void query(CipherPair& pair);
  void copy(const Stream& stream);

  std::size_t choose_key_size() {
    constexpr std::array<std::size_t, 6> sizes{32, 64, 16, 24, 0, 48};
    return input_.one_of(sizes);
  }

  const Session& session_;
  Input& input_;
  const CipherSubject subject_;
  std::array<Bytes, 4> keys_;  // the last one's halves are the same
  std::vector<Stream> streams_;
};

XtsSequence::XtsSequence(const Session& session, const CipherSubject& subject)
    : session_(session), input_(session.input), subject_(subject) {
  for (Bytes& key : keys_) key = input_.grow_bytes(largest_key);
  const auto half = EVP_CIPHER_get_key_length(subject.reference) / 2;
  std::copy_n(keys_.back().begin(), half, keys_.back().begin() + half);
}

void XtsSequence::run() {
  streams_.reserve(most_streams);
  init(add_stream());
  for (int calls = 0; calls < most_calls && !input_.is_empty(); ++calls) {
    const std::size_t choice = input_.byte();
    constexpr std::size_t calls_known = 10;
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

void XtsSequence::step(std::size_t call, Stream& stream) {
  CipherPair& pair = stream.pair;
  switch (call) {
    case 0:
    case 1:
      return init(stream);
    case 2:
    case 3:
    case 4:
      return unit(pair);
    case 5:
      pair.final();
      return;
    case 6:
      return query(pair);
    case 7:
      return copy(stream);
    case 8: {
      ParameterList parameters;
      add_parameters(parameters);
      pair.set(parameters);
      return;
    }
    default:
      if (input_.flag()) {
        pair.set_padding(input_.flag() ? 1 : 0);
      } else {
        pair.set_key_length(static_cast<int>(choose_key_size()));
      }
      return;
  }
}

Stream& XtsSequence::add_stream() {
  session_.transcript.note([&] { return "new context " + std::to_string(streams_.size()); });
  return streams_.emplace_back(Stream{CipherPair(subject_, session_.transcript)});
}

void XtsSequence::init(Stream& stream) {
  CipherPair& pair = stream.pair;
  const unsigned how = input_.byte();
  // Zeros, of which an input that is too short is full, make the usual call.
  const bool name_cipher = !pair.has_cipher() || (how & 0x30U) == 0x30U;
  const bool with_key = (how & 1U) == 0;
  const bool with_tweak = (how & 2U) == 0;
  constexpr std::array<int, 4> directions{1, 0, -1, 0};
  const int direction = directions[how >> 2U & 3U];
  const Bytes& key = keys_[how >> 6U];
  const Bytes tweak = input_.grow_bytes(tweak_size);
  ParameterList parameters;
  const bool with_parameters = (how & 0x30U) == 0x10U;
  if (with_parameters) add_parameters(parameters);
  const bool ok =
      pair.init({name_cipher, with_key ? key.data() : nullptr, with_tweak ? tweak.data() : nullptr,
                 direction, with_parameters ? parameters.get() : nullptr});
  stream.has_key = (ok && with_key) || (stream.has_key && !name_cipher);
}

// XTS takes a key length, if it is its own, and looks at nothing else.
void XtsSequence::add_parameters(ParameterList& parameters) {
  const unsigned which = input_.byte();
  if ((which & 1U) != 0) parameters.add_number(OSSL_CIPHER_PARAM_KEYLEN, choose_key_size());
  if ((which & 2U) != 0) parameters.add_unsigned(OSSL_CIPHER_PARAM_PADDING, which >> 7U);
  if ((which & 4U) != 0) parameters.add_unsigned(OSSL_CIPHER_PARAM_NUM, which >> 4U);
  if ((which & 9U) == 8U) parameters.add_misfit(OSSL_CIPHER_PARAM_KEYLEN);
}

void XtsSequence::unit(CipherPair& pair) {
  const unsigned how = input_.byte();
  const auto threshold = session_.configuration.threshold(pair.is_encrypting());
  const Bytes data = input_.grow_bytes(input_.data_size(threshold));
  constexpr std::array places{Place::apart,    Place::in_place, Place::apart,     Place::in_place,
                              Place::in_place, Place::apart,    Place::no_output, Place::no_input};
  const Call call = (how & 8U) == 0 ? Call::update : Call::cipher;
  pair.move({call, places[how & 7U]}, data);
}

void XtsSequence::query(CipherPair& pair) {
  using enum Query::Type;
  constexpr std::array<std::size_t, 4> capacities{16, 32, 15, 0};
  const unsigned which = input_.byte();
  const std::size_t capacity = capacities[which & 3U];
  const auto iv_type = (which & 4U) != 0 ? pointer : octets;
  QueryList queries;
  if ((which & 8U) == 0) queries.push_back({OSSL_CIPHER_PARAM_IV, iv_type, capacity});
  if ((which & 0x10U) == 0) queries.push_back({OSSL_CIPHER_PARAM_UPDATED_IV, iv_type, capacity});
  if ((which & 0x20U) == 0) {
    queries.push_back({OSSL_CIPHER_PARAM_KEYLEN, number});
    queries.push_back({OSSL_CIPHER_PARAM_IVLEN, number});
    queries.push_back({OSSL_CIPHER_PARAM_PADDING, unsigned_number});
    queries.push_back({OSSL_CIPHER_PARAM_NUM, unsigned_number});
  }
  pair.query(queries);
}

// A copy of a context without a key has one of OpenSSL's making, and crashes with it.
void XtsSequence::copy(const Stream& stream) {
  if (!stream.has_key) return;
  const auto from = static_cast<std::size_t>(&stream - streams_.data());
  if (streams_.size() < most_streams) add_stream();
  const std::size_t to = (from + 1 + input_.below(2)) % streams_.size();
  if (to == from) return;
  session_.transcript.note([&] { return "to context " + std::to_string(to); });
  streams_[to].pair.copy(streams_[from].pair);
  streams_[to].has_key = true;
}

}  // namespace

void run_xts(const Session& session) {
  const char* name = session.input.flag() ? "AES-256-XTS" : "AES-128-XTS";
  session.transcript.note([&] { return std::string(name); });
  const auto subject = session.subjects.cipher(find_algorithm(name));
  if (subject) XtsSequence(session, *subject).run();
}

}  // namespace kaccel::fuzzing
