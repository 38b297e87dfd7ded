// AES-GCM: messages in pieces, tags early and late, IVs that OpenSSL makes, TLS 1.2's records.

#include <openssl/core_names.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/cipher_pair.hpp"
#include "tests/fuzz/family.hpp"
#include "tests/fuzz/gcm_message.hpp"

namespace kaccel::fuzzing {
namespace {

using Call = CipherPair::Call;
using Place = CipherPair::Place;

constexpr std::size_t key_room = 64;  // however wrong a key length is set
constexpr std::size_t iv_room = 160;  // more than any IV of GCM
constexpr std::size_t usual_iv_size = 12;
constexpr std::size_t explicit_iv_size = 8;
constexpr std::size_t tag_size = 16;
constexpr std::size_t tls_aad_size = 13;

struct Stream {
  CipherPair pair;
  Bytes key;
  // OpenSSL counts in the last 8 bytes of the IV without a look at its length.
  bool counts_iv = false;
  bool may_have_tag = false;
  // Asked for a tag, OpenSSL then tells the record's header.
  bool had_record = false;
  // EVP has the direction of an init that it refused before OpenSSL's provider heard of it.
  bool direction_is_evps = false;
};

class GcmSequence {
 public:
  GcmSequence(const Session& session, const CipherSubject& subject)
      : session_(session), input_(session.input), subject_(subject) {
    for (Bytes& key : keys_) key = input_.grow_bytes(key_room);
  }

  void run();

 private:
  Stream& add_stream();
  void step(std::size_t call, Stream& stream);
  void init(Stream& stream);
  void add_init_parameters(ParameterList& parameters, const Stream& stream);
  void text(Stream& stream, Call call);
  void aad(Stream& stream, Call call);
  void end(Stream& stream);
  void note_end(Stream& stream, bool ok);
  static void note_tag(Stream& stream, const ParameterList& parameters);
  void set_tag(Stream& stream);
  void give_tag(Stream& stream, const Bytes& tag, bool by_parameter);
  void get_tag(Stream& stream);
  void set_iv_size(Stream& stream);
  void set_fixed_iv(Stream& stream);
  void generate_iv(Stream& stream);
  void set_invocation(Stream& stream);
  void set_tls_aad(Stream& stream, std::size_t text_size);
  void tls_record(Stream& stream);
  Bytes make_record(const Stream& stream, std::size_t text_size, bool right);
  void copy(const Stream& stream);
  void query(Stream& stream);
  void set_several(Stream& stream);

  std::size_t choose_size(const Stream& stream) {
    return input_.data_size(session_.configuration.threshold(stream.pair.is_encrypting()));
  }
  std::size_t choose_iv_size(const Stream& stream);
  std::size_t iv_size(const Stream& stream) const;
  bool hides_tag(const Stream& stream) const {
    return stream.had_record && (stream.pair.is_encrypting() || stream.direction_is_evps);
  }
  Bytes iv_of(const Stream& stream) const;

  const Session& session_;
  Input& input_;
  const CipherSubject subject_;
  std::array<Bytes, 3> keys_;
  std::vector<Stream> streams_;
};

void GcmSequence::run() {
  streams_.reserve(most_streams);
  init(add_stream());
  for (int calls = 0; calls < most_calls && !input_.is_empty(); ++calls) {
    const std::size_t choice = input_.byte();
    constexpr std::size_t calls_known = 20;
    const std::size_t which = choice / calls_known % streams_.size();
    session_.transcript.note([&] { return "context " + std::to_string(which) + ":"; });
    Stream& stream = streams_[which];
    if (!stream.pair.has_cipher() || stream.pair.is_lost()) {
      init(stream);
    } else {
      step(choice % calls_known, stream);
    }
  }
  for (Stream& stream : streams_) {
    if (!stream.pair.is_lost()) get_tag(stream);
  }
}

void GcmSequence::step(std::size_t call, Stream& stream) {
  switch (call) {
    case 0:
      return init(stream);
    case 1:
      return text(stream, Call::update);
    case 2:
      return aad(stream, Call::update);
    case 3:
      return note_end(stream, stream.pair.final().ok);
    case 4:
      return set_tag(stream);
    case 5:
      return get_tag(stream);
    case 6:
      return text(stream, Call::cipher);
    case 7:
      return aad(stream, Call::cipher);
    case 8:
      return end(stream);
    case 9:
      return set_iv_size(stream);
    case 10:
      return set_fixed_iv(stream);
    case 11:
      return generate_iv(stream);
    case 12:
      return set_invocation(stream);
    case 13:
      return set_tls_aad(stream, choose_size(stream));
    case 14:
      return tls_record(stream);
    case 15:
      return copy(stream);
    case 16:
      return query(stream);
    case 17:
      return set_several(stream);
    case 18:
      stream.pair.set_padding(input_.flag() ? 1 : 0);
      return;
    default:
      stream.pair.set_key_length(static_cast<int>(8 * input_.below(5)));
      return;
  }
}

Stream& GcmSequence::add_stream() {
  session_.transcript.note([&] { return "new context " + std::to_string(streams_.size()); });
  streams_.push_back({CipherPair(subject_, session_.transcript), {}});
  return streams_.back();
}

// State -------------------------------------------------------------------------------------------

std::size_t GcmSequence::iv_size(const Stream& stream) const {
  std::size_t size = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &size),
                         OSSL_PARAM_construct_end()};
  EVP_CIPHER_CTX_get_params(stream.pair.reference(), params);
  return size;
}

Bytes GcmSequence::iv_of(const Stream& stream) const {
  Bytes iv(iv_room);
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_IV, iv.data(), iv.size()),
      OSSL_PARAM_construct_end()};
  if (EVP_CIPHER_CTX_get_params(stream.pair.reference(), params) != 1) return {};
  iv.resize(params[0].return_size);
  return iv;
}

std::size_t GcmSequence::choose_iv_size(const Stream& stream) {
  const std::size_t choice = input_.byte();
  const std::size_t size = choice < 80 ? usual_iv_size : choice < 240 ? choice % 20 : choice;
  return stream.counts_iv ? std::max(size, explicit_iv_size) : size;
}

// Init --------------------------------------------------------------------------------------------

void GcmSequence::init(Stream& stream) {
  const unsigned how = input_.byte();
  const bool anew = !stream.pair.has_cipher() || stream.pair.is_lost();
  // Zeros, of which an input that is too short is full, make the usual call.
  const bool name_cipher = anew || (how & 0x20U) != 0;
  const bool with_key = (how & 1U) == 0;
  const bool with_iv = (how & 2U) == 0;
  constexpr std::array<int, 4> directions{1, 0, -1, 0};
  const int direction = directions[how >> 2U & 3U];
  const Bytes& key = keys_[(how >> 6U) % keys_.size()];
  const Bytes iv = input_.grow_bytes(iv_room);
  if (name_cipher) stream.counts_iv = stream.may_have_tag = stream.had_record = false;
  ParameterList parameters;
  const bool with_parameters = (how & 0x10U) != 0;
  if (with_parameters) add_init_parameters(parameters, stream);
  const bool ok =
      stream.pair.init({name_cipher, with_key ? key.data() : nullptr, with_iv ? iv.data() : nullptr,
                        direction, with_parameters ? parameters.get() : nullptr});
  note_tag(stream, parameters);
  stream.direction_is_evps = !ok;
  if (!ok) {
    if (with_parameters) stream.pair.permit_refusal();
    return;
  }
  if (with_key) {
    const auto size = static_cast<std::ptrdiff_t>(EVP_CIPHER_get_key_length(subject_.reference));
    stream.key.assign(key.begin(), key.begin() + size);
  }
  if (with_iv && !stream.pair.is_lost()) stream.pair.permit_no_refusal();
}

void GcmSequence::add_init_parameters(ParameterList& parameters, const Stream& stream) {
  const unsigned which = input_.byte();
  if ((which & 1U) != 0) {
    parameters.add_number(OSSL_CIPHER_PARAM_AEAD_IVLEN, choose_iv_size(stream));
  }
  if ((which & 2U) != 0) {
    parameters.add_octets(OSSL_CIPHER_PARAM_AEAD_TAG, input_.grow_bytes(input_.below(18)));
  }
  if ((which & 4U) != 0) parameters.add_number(OSSL_CIPHER_PARAM_KEYLEN, 8 * input_.below(5));
  if ((which & 8U) != 0) parameters.add_unsigned(OSSL_CIPHER_PARAM_PADDING, which >> 7U);
}

// A message ---------------------------------------------------------------------------------------

void GcmSequence::text(Stream& stream, Call call) {
  const unsigned how = input_.byte();
  const Bytes data = input_.grow_bytes(choose_size(stream));
  const bool early_tag = (how & 2U) != 0 && !stream.pair.is_encrypting();
  if (early_tag) give_tag(stream, right_tag(stream.pair.reference(), data), false);
  if (stream.pair.is_lost()) return;
  stream.pair.move({call, (how & 1U) != 0 ? Place::in_place : Place::apart}, data);
}

void GcmSequence::aad(Stream& stream, Call call) {
  constexpr std::array<std::size_t, 6> usual{13, 16, 1, 0, 32, 20};
  const std::size_t choice = input_.byte();
  const std::size_t size = choice < 128 ? usual[choice % usual.size()] : choice * 2 - 250;
  stream.pair.move({call, Place::no_output}, input_.grow_bytes(size));
}

// The end by other calls than EVP_CipherFinal.
void GcmSequence::end(Stream& stream) {
  const unsigned how = input_.byte();
  const std::size_t size = how >> 1U & 3U;
  const Call call = (how & 1U) != 0 ? Call::update : Call::cipher;
  const auto moved = stream.pair.move({call, Place::no_input}, input_.grow_bytes(size));
  // An update of nothing is no end.
  if (call == Call::cipher || size != 0) note_end(stream, moved.ok);
}

void GcmSequence::note_end(Stream& stream, bool ok) {
  if (ok) {
    stream.may_have_tag = true;
  } else if (!stream.pair.is_encrypting() && (stream.may_have_tag || stream.had_record)) {
    stream.pair.permit_refusal();
  }
}

void GcmSequence::note_tag(Stream& stream, const ParameterList& parameters) {
  if (OSSL_PARAM_locate_const(parameters.get(), OSSL_CIPHER_PARAM_AEAD_TAG) != nullptr) {
    stream.may_have_tag = true;
  }
}

void GcmSequence::set_tag(Stream& stream) {
  const unsigned how = input_.byte();
  const bool wrong = (how & 1U) != 0;
  Bytes tag = wrong ? Bytes{} : right_tag(stream.pair.reference(), {});
  if (tag.empty()) tag = input_.grow_bytes(tag_size + 2);
  const std::size_t size = how >> 2U;
  constexpr std::size_t sizes = 18;
  tag.resize(size < 32 ? std::min(tag.size(), tag_size) : size % sizes);
  give_tag(stream, tag, (how & 2U) != 0);
}

void GcmSequence::give_tag(Stream& stream, const Bytes& tag, bool by_parameter) {
  stream.may_have_tag = true;
  if (by_parameter) {
    ParameterList parameters;
    parameters.add_octets(OSSL_CIPHER_PARAM_AEAD_TAG, tag);
    stream.pair.set(parameters);
  } else {
    Bytes buffer = tag;
    buffer.resize(tag_size + 2);
    stream.pair.control(EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), buffer);
  }
}

void GcmSequence::get_tag(Stream& stream) {
  const std::size_t choice = input_.byte();
  const std::size_t size = choice < 128 ? tag_size : choice % 18;
  if (hides_tag(stream)) return;
  stream.pair.control(EVP_CTRL_AEAD_GET_TAG, static_cast<int>(size), Bytes(tag_size + 2));
}

// IVs ---------------------------------------------------------------------------------------------

void GcmSequence::set_iv_size(Stream& stream) {
  const std::size_t size = choose_iv_size(stream);
  stream.pair.control(EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(size), Bytes(1));
}

void GcmSequence::set_fixed_iv(Stream& stream) {
  const std::size_t available = iv_size(stream);
  if (available < explicit_iv_size) return;
  stream.counts_iv = true;
  const std::size_t choice = input_.byte();
  const std::size_t size = choice < 128 ? 4 : choice % (available + 1);
  const int argument = choice >= 64 && choice < 128 ? -1 : static_cast<int>(size);
  stream.pair.control(EVP_CTRL_AEAD_SET_IV_FIXED, argument, input_.grow_bytes(iv_room));
}

void GcmSequence::generate_iv(Stream& stream) {
  if (iv_size(stream) < explicit_iv_size) return;
  stream.counts_iv = true;
  constexpr std::array<int, 8> sizes{8, 12, -1, 0, 1, 4, 16, 100};
  stream.pair.control(EVP_CTRL_GCM_IV_GEN, input_.one_of(sizes), Bytes(iv_room));
}

void GcmSequence::set_invocation(Stream& stream) {
  const std::size_t available = iv_size(stream);
  if (available < explicit_iv_size) return;
  stream.counts_iv = true;
  const std::size_t choice = input_.byte();
  const std::size_t size = choice < 128 ? explicit_iv_size : choice % (available + 1);
  stream.pair.control(EVP_CTRL_GCM_SET_IV_INV, static_cast<int>(size), input_.grow_bytes(iv_room));
}

// TLS ---------------------------------------------------------------------------------------------

void GcmSequence::set_tls_aad(Stream& stream, std::size_t text_size) {
  if (iv_size(stream) < explicit_iv_size) return;
  stream.counts_iv = true;
  const std::size_t choice = input_.byte();
  Bytes aad = input_.grow_bytes(tls_aad_size + 2);
  // In the record's header the length counts explicit IV and, received, the tag.
  std::size_t length = text_size + explicit_iv_size;
  if (!stream.pair.is_encrypting()) length += tag_size;
  if (choice >= 0xf0) length = choice - 0xf0;
  if (choice >= 0xe0 && choice < 0xf0) length = 2 * choice;
  aad[tls_aad_size - 2] = static_cast<std::uint8_t>(length >> 8U);
  aad[tls_aad_size - 1] = static_cast<std::uint8_t>(length);
  const std::size_t size = choice % 64 == 63 ? tls_aad_size + choice / 64 - 1 : tls_aad_size;
  stream.had_record = true;
  stream.pair.control(EVP_CTRL_AEAD_TLS1_AAD, static_cast<int>(size), aad);
}

void GcmSequence::tls_record(Stream& stream) {
  const unsigned how = input_.byte();
  const std::size_t size = choose_size(stream);
  const bool with_aad = (how & 1U) == 0;
  const bool right = (how & 2U) == 0;
  const bool apart = (how & 0x1cU) == 0x1cU;
  const Call call = (how & 0x20U) == 0 ? Call::cipher : Call::update;
  if (iv_size(stream) < explicit_iv_size) return;
  const Bytes record = make_record(stream, size, right);
  if (with_aad) {
    stream.counts_iv = stream.had_record = true;
    Bytes aad(tls_aad_size, 0x17);
    const std::size_t length =
        stream.pair.is_encrypting() ? size + explicit_iv_size : record.size();
    aad[tls_aad_size - 2] = static_cast<std::uint8_t>(length >> 8U);
    aad[tls_aad_size - 1] = static_cast<std::uint8_t>(length);
    stream.pair.control(EVP_CTRL_AEAD_TLS1_AAD, tls_aad_size, aad);
    if (stream.pair.is_lost()) return;
  }
  stream.pair.move({call, apart ? Place::apart : Place::in_place, 0, !apart && with_aad}, record);
}

// Explicit IV, text, tag; what a peer would have sent, where it is to be decrypted.
Bytes GcmSequence::make_record(const Stream& stream, std::size_t text_size, bool right) {
  Bytes record = input_.grow_bytes(explicit_iv_size + text_size + tag_size);
  Bytes iv = iv_of(stream);
  if (!right || stream.pair.is_encrypting() || stream.key.empty() || iv.size() < explicit_iv_size) {
    return record;
  }
  std::copy_n(record.begin(), explicit_iv_size, iv.end() - explicit_iv_size);
  Bytes aad(tls_aad_size, 0x17);
  aad[tls_aad_size - 2] = static_cast<std::uint8_t>(text_size >> 8U);
  aad[tls_aad_size - 1] = static_cast<std::uint8_t>(text_size);
  const auto text = record.begin() + explicit_iv_size;
  const auto tag = record.end() - tag_size;
  const Sealed sealed = seal(subject_.reference, stream.key, iv, aad, Bytes(text, tag));
  if (sealed.tag.empty()) return record;
  std::copy(sealed.text.begin(), sealed.text.end(), text);
  std::copy(sealed.tag.begin(), sealed.tag.end(), tag);
  return record;
}

// Everything else ---------------------------------------------------------------------------------

void GcmSequence::copy(const Stream& stream) {
  const auto from = static_cast<std::size_t>(&stream - streams_.data());
  if (streams_.size() < most_streams) add_stream();
  const std::size_t to = (from + 1 + input_.below(2)) % streams_.size();
  if (to == from) return;
  session_.transcript.note([&] { return "to context " + std::to_string(to); });
  Stream& target = streams_[to];
  const Stream& source = streams_[from];
  target.pair.copy(source.pair);
  target.key = source.key;
  target.counts_iv = source.counts_iv;
  target.may_have_tag = source.may_have_tag;
  target.had_record = source.had_record;
  target.direction_is_evps = source.direction_is_evps;
}

void GcmSequence::query(Stream& stream) {
  using enum Query::Type;
  constexpr std::array<std::size_t, 4> capacities{16, 12, 128, 7};
  const unsigned which = input_.byte();
  const std::size_t capacity = capacities[which & 3U];
  const auto iv_type = (which & 4U) != 0 ? pointer : octets;
  QueryList queries;
  if ((which & 8U) == 0) queries.push_back({OSSL_CIPHER_PARAM_IV, iv_type, capacity});
  if ((which & 0x10U) == 0) queries.push_back({OSSL_CIPHER_PARAM_UPDATED_IV, iv_type, capacity});
  if ((which & 0x20U) != 0 && !hides_tag(stream)) {
    queries.push_back({OSSL_CIPHER_PARAM_AEAD_TAG, octets, input_.below(18)});
  }
  if ((which & 0x40U) != 0 && iv_size(stream) >= explicit_iv_size) {
    stream.counts_iv = true;
    queries.push_back({OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN, octets, iv_room});
  }
  if ((which & 0x80U) == 0) {
    for (const char* key :
         {OSSL_CIPHER_PARAM_KEYLEN, OSSL_CIPHER_PARAM_IVLEN, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD}) {
      queries.push_back({key, number});
    }
    if (!hides_tag(stream)) queries.push_back({OSSL_CIPHER_PARAM_AEAD_TAGLEN, number});
    queries.push_back({OSSL_CIPHER_PARAM_PADDING, unsigned_number});
    queries.push_back({OSSL_CIPHER_PARAM_NUM, unsigned_number});
  }
  stream.pair.query(queries);
}

// Several parameters in one call, right and wrong ones.
void GcmSequence::set_several(Stream& stream) {
  const bool may_count = iv_size(stream) >= explicit_iv_size;
  ParameterList parameters;
  const std::size_t count = 1 + input_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    switch (input_.below(8)) {
      case 0:
        parameters.add_octets(OSSL_CIPHER_PARAM_AEAD_TAG, input_.grow_bytes(input_.below(18)));
        break;
      case 1:
        parameters.add_number(OSSL_CIPHER_PARAM_AEAD_IVLEN,
                              std::max(choose_iv_size(stream), explicit_iv_size));
        break;
      case 2:
        if (!may_count) break;
        parameters.add_octets(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, input_.grow_bytes(4));
        break;
      case 3:
        if (!may_count) break;
        parameters.add_octets(OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV,
                              input_.grow_bytes(explicit_iv_size));
        break;
      case 4:
        if (!may_count) break;
        stream.had_record = true;
        parameters.add_octets(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, input_.grow_bytes(tls_aad_size));
        break;
      case 5:
        parameters.add_misfit(input_.flag() ? OSSL_CIPHER_PARAM_AEAD_TAG
                                            : OSSL_CIPHER_PARAM_AEAD_TLS1_AAD);
        break;
      case 6:
        parameters.add_null(OSSL_CIPHER_PARAM_AEAD_TAG);
        break;
      default:
        parameters.add_unsigned(OSSL_CIPHER_PARAM_PADDING, 1);
        break;
    }
  }
  if (may_count) stream.counts_iv = true;
  note_tag(stream, parameters);
  if (!stream.pair.set(parameters)) stream.pair.permit_refusal();
}

}  // namespace

void run_gcm(const Session& session) {
  constexpr std::array names{"AES-128-GCM", "AES-256-GCM", "AES-192-GCM"};
  const char* name = session.input.one_of(names);
  session.transcript.note([&] { return std::string(name); });
  const auto subject = session.subjects.cipher(find_algorithm(name));
  if (subject) GcmSequence(session, *subject).run();
}

}  // namespace kaccel::fuzzing
