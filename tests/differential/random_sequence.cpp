#include "tests/differential/random_sequence.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace kaccel::testing {
namespace {

constexpr std::size_t largest_block = 16;
constexpr std::size_t guard = 64;  // bytes after a buffer that must stay as they are
constexpr std::uint8_t guard_byte = 0xee;
constexpr std::size_t most_streams = 4;

// What a parameter answers, as text that can be compared and printed.
std::string octets(const OSSL_PARAM& param, const std::uint8_t* data) {
  constexpr auto digits = "0123456789abcdef";
  std::string text = "(" + std::to_string(param.return_size) + ")";
  if (OSSL_PARAM_modified(&param) != 1 || data == nullptr) return text;
  for (std::size_t i = 0; i < std::min(param.return_size, largest_block); ++i) {
    text += digits[data[i] >> 4];
    text += digits[data[i] & 15];
  }
  return text;
}

std::string octet_string(EVP_CIPHER_CTX* context, const char* key) {
  std::array<std::uint8_t, largest_block> bytes{};
  std::array params{OSSL_PARAM_construct_octet_string(key, bytes.data(), bytes.size()),
                    OSSL_PARAM_construct_end()};
  const int result = EVP_CIPHER_CTX_get_params(context, params.data());
  return std::to_string(result) + octets(params[0], bytes.data());
}

std::string octet_pointer(EVP_CIPHER_CTX* context, const char* key) {
  void* bytes = nullptr;
  std::array params{OSSL_PARAM_construct_octet_ptr(key, &bytes, 0), OSSL_PARAM_construct_end()};
  const int result = EVP_CIPHER_CTX_get_params(context, params.data());
  return std::to_string(result) + octets(params[0], static_cast<const std::uint8_t*>(bytes));
}

std::string number(EVP_CIPHER_CTX* context, const char* key) {
  std::size_t value = 0;
  std::array params{OSSL_PARAM_construct_size_t(key, &value), OSSL_PARAM_construct_end()};
  const int result = EVP_CIPHER_CTX_get_params(context, params.data());
  return std::to_string(result) + ":" + std::to_string(value);
}

// Several at once, since EVP and kaccel may not assume one a call.
std::string several(EVP_CIPHER_CTX* context) {
  std::array<std::uint8_t, largest_block> iv{};
  std::array<std::uint8_t, largest_block> updated{};
  unsigned int padding = 77;
  std::array params{
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, updated.data(),
                                        largest_block),
      OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &padding),
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_IV, iv.data(), largest_block),
      OSSL_PARAM_construct_end()};
  const int result = EVP_CIPHER_CTX_get_params(context, params.data());
  return std::to_string(result) + octets(params[0], updated.data()) + std::to_string(padding) +
         octets(params[2], iv.data());
}

}  // namespace

RandomSequence::RandomSequence(const Subject& subject, std::uint32_t seed)
    : subject_(subject),
      block_(is_ctr() ? largest_block
                      : static_cast<std::size_t>(EVP_CIPHER_get_block_size(subject.reference))),
      random_(seed) {
  const auto key_size = static_cast<std::size_t>(EVP_CIPHER_get_key_length(subject_.reference));
  for (int i = 0; i < 3; ++i) keys_.push_back(random_bytes(key_size));
}

std::string RandomSequence::run() {
  streams_.push_back(
      {CipherContextPointer(EVP_CIPHER_CTX_new()), CipherContextPointer(EVP_CIPHER_CTX_new())});
  init(streams_.front());
  for (std::size_t steps = 5 + below(25); steps > 0 && difference_.empty(); --steps) step();
  return difference_;
}

void RandomSequence::step() {
  const std::size_t which = below(streams_.size());
  Stream& stream = streams_[which];
  const std::size_t dice = below(100);
  if (dice < 60) {
    update(stream);
  } else if (dice < 68) {
    cipher(stream);
  } else if (dice < 76) {
    final(stream);
  } else if (dice < 86) {
    init(stream);
  } else if (dice < 90) {
    set_padding(stream);
  } else if (dice < 95) {
    duplicate(which);
  } else if (dice < 96 && is_ctr()) {
    set_num(stream);
  } else {
    compare_parameters(stream);
  }
}

// Choices ---------------------------------------------------------------------------------------

bool RandomSequence::is_ctr() const noexcept {
  return EVP_CIPHER_get_mode(subject_.reference) == EVP_CIPH_CTR_MODE;
}

std::size_t RandomSequence::below(std::size_t limit) {
  return random_() % limit;
}

bool RandomSequence::chance(std::size_t percent) {
  return below(100) < percent;
}

RandomSequence::Bytes RandomSequence::random_bytes(std::size_t size) {
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(),
                [this] { return static_cast<std::uint8_t>(random_()); });
  return bytes;
}

std::size_t RandomSequence::choose_size(bool encrypting) {
  const Threshold threshold = encrypting ? subject_.encrypt : subject_.decrypt;
  const std::size_t near = static_cast<std::size_t>(std::max<Threshold>(threshold, 0));
  const std::size_t dice = below(1000);
  if (dice < 20) return 0;
  if (dice < 250) return 1 + below(40);
  if (dice < 500) return block_ * (1 + below(40)) + below(3) - 1;
  if (dice < 750) return near + 20 - std::min(below(40), near + 20);
  if (dice < 996) return below(5001);
  return 65536 + below((std::size_t{1} << 20) - 65536);
}

// Calls -----------------------------------------------------------------------------------------

template <class Call>
RandomSequence::Both RandomSequence::on_both(const Stream& stream, Call call) {
  const auto on_one = [&call](EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher) {
    Outcome outcome;
    ERR_clear_error();
    outcome.result = call(context, cipher, outcome);
    outcome.reason = ERR_GET_REASON(ERR_peek_last_error());
    return outcome;
  };
  return {on_one(stream.reference.get(), subject_.reference),
          on_one(stream.kaccel.get(), subject_.kaccel)};
}

// `call` gets input and output either apart or, as a caller may that works through one buffer, with
// the output as far before the input as bytes are held back.
template <class Call>
RandomSequence::Both RandomSequence::move_data(const Stream& stream, const Bytes& data, Place place,
                                               Call call) {
  const std::size_t held = stream.consumed - stream.produced;
  return on_both(stream, [&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome& outcome) {
    if (place == Place::apart) {
      outcome.input = data;
      outcome.memory.assign(data.size() + largest_block + guard, guard_byte);
      return call(context, outcome.memory.data(), &outcome.written, outcome.input.data());
    }
    outcome.memory.assign(held + data.size() + largest_block + guard, guard_byte);
    std::copy(data.begin(), data.end(), outcome.memory.begin() + static_cast<std::ptrdiff_t>(held));
    return call(context, outcome.memory.data(), &outcome.written, outcome.memory.data() + held);
  });
}

void RandomSequence::init(Stream& stream) {
  const bool first = EVP_CIPHER_CTX_get0_cipher(stream.reference.get()) == nullptr;
  const bool name_cipher = first || chance(15);
  bool with_key = chance(first ? 90 : 60);
  const bool with_iv = chance(first ? 90 : 60);
  const bool was_encrypting = stream.encrypting;
  const bool encrypting = chance(70) && !first ? was_encrypting : chance(50);
  // Usually the key comes along with a new direction, since nothing else is documented.
  if (encrypting != was_encrypting && !with_key) with_key = chance(70);
  const Bytes& key = keys_[below(keys_.size())];
  const Bytes iv = random_bytes(largest_block);
  unsigned int padding = chance(50) ? 1 : 0;
  const bool with_params = chance(20);

  note("init" + std::string(name_cipher ? " cipher" : "") + (with_key ? " key" : "") +
       (with_iv ? " iv" : "") + (encrypting ? " encrypt" : " decrypt") +
       (with_params ? " padding=" + std::to_string(padding) : ""));
  const Both both =
      on_both(stream, [&](EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, Outcome&) {
        const std::array params{OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &padding),
                                OSSL_PARAM_construct_end()};
        return EVP_CipherInit_ex2(context, name_cipher ? cipher : nullptr,
                                  with_key ? key.data() : nullptr, with_iv ? iv.data() : nullptr,
                                  encrypting ? 1 : 0, with_params ? params.data() : nullptr);
      });
  agree(both);
  stream.encrypting = encrypting;
  stream.consumed = 0;
  stream.produced = 0;
  stream.failed = both.reference.result != 1;
}

void RandomSequence::update(Stream& stream) {
  const Bytes data = random_bytes(choose_size(stream.encrypting));
  const Place place = !stream.failed && chance(40) ? Place::in_place : Place::apart;
  const std::size_t held = stream.consumed - stream.produced;
  note("update " + std::to_string(data.size()) + (place == Place::in_place ? " in place" : "") +
       " held " + std::to_string(held));
  const Both both = move_data(
      stream, data, place,
      [&](EVP_CIPHER_CTX* context, std::uint8_t* out, int* written, const std::uint8_t* in) {
        return EVP_CipherUpdate(context, out, written, in, static_cast<int>(data.size()));
      });
  if (!agree(both)) return;
  if (both.reference.result != 1) {
    stream.failed = true;
    return;
  }
  const auto written = static_cast<std::size_t>(both.reference.written);
  compare_output(both, written, place == Place::apart ? written : held + data.size());
  if (both.kaccel.written != both.reference.written) differ("written");
  if (place == Place::apart && both.kaccel.input != data) differ("input was changed");
  stream.consumed += data.size();
  stream.produced += written;
}

// EVP_Cipher(), which goes past the buffer: whole blocks, unless the mode has none.
void RandomSequence::cipher(Stream& stream) {
  std::size_t size = choose_size(stream.encrypting);
  if (!is_ctr()) size -= size % block_;
  const Bytes data = random_bytes(size);
  note("EVP_Cipher " + std::to_string(size));
  Stream aligned;  // the same contexts, with nothing held back: input and output are one
  aligned.reference = std::move(stream.reference);
  aligned.kaccel = std::move(stream.kaccel);
  const Both both =
      move_data(aligned, data, chance(50) ? Place::in_place : Place::apart,
                [&](EVP_CIPHER_CTX* context, std::uint8_t* out, int*, const std::uint8_t* in) {
                  return EVP_Cipher(context, out, in, static_cast<unsigned int>(size));
                });
  stream.reference = std::move(aligned.reference);
  stream.kaccel = std::move(aligned.kaccel);
  if (!agree(both)) return;
  if (both.reference.result < 0) {
    stream.failed = true;
    return;
  }
  compare_output(both, size, size);
}

void RandomSequence::final(Stream& stream) {
  note("final held " + std::to_string(stream.consumed - stream.produced));
  const Both both =
      on_both(stream, [](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome& outcome) {
        outcome.memory.assign(largest_block + guard, guard_byte);
        return EVP_CipherFinal_ex(context, outcome.memory.data(), &outcome.written);
      });
  if (!agree(both)) return;
  if (both.reference.result != 1) {
    stream.failed = true;
    return;
  }
  const auto written = static_cast<std::size_t>(both.reference.written);
  compare_output(both, written, largest_block);
  if (both.kaccel.written != both.reference.written) differ("written");
  stream.consumed = 0;
  stream.produced = 0;
}

void RandomSequence::set_padding(Stream& stream) {
  const int padding = chance(50) ? 1 : 0;
  note("padding " + std::to_string(padding));
  agree(on_both(stream, [&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome&) {
    return EVP_CIPHER_CTX_set_padding(context, padding);
  }));
}

void RandomSequence::set_num(Stream& stream) {
  const auto num = static_cast<int>(below(largest_block));
  note("num " + std::to_string(num));
  agree(on_both(stream, [&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome&) {
    return EVP_CIPHER_CTX_set_num(context, num);
  }));
}

void RandomSequence::duplicate(std::size_t from) {
  const bool fresh = streams_.size() < most_streams;
  if (fresh) {
    streams_.push_back(
        {CipherContextPointer(EVP_CIPHER_CTX_new()), CipherContextPointer(EVP_CIPHER_CTX_new())});
  }
  const std::size_t to = fresh ? streams_.size() - 1 : (from + 1) % streams_.size();
  Stream& source = streams_[from];
  Stream& target = streams_[to];
  note("copy to " + std::to_string(to));
  Both both;
  ERR_clear_error();
  both.reference.result = EVP_CIPHER_CTX_copy(target.reference.get(), source.reference.get());
  ERR_clear_error();
  both.kaccel.result = EVP_CIPHER_CTX_copy(target.kaccel.get(), source.kaccel.get());
  both.kaccel.reason = ERR_GET_REASON(ERR_peek_last_error());
  if (both.reference.result != 1) differ("the reference cannot copy");
  agree(both);
  target.encrypting = source.encrypting;
  target.consumed = source.consumed;
  target.produced = source.produced;
  target.failed = source.failed;
}

void RandomSequence::compare_parameters(const Stream& stream) {
  note("parameters");
  const auto compare = [&](const char* key, auto ask) {
    const std::string reference = ask(stream.reference.get());
    const std::string kaccel = ask(stream.kaccel.get());
    if (reference != kaccel) {
      differ(std::string("parameter ") + key + ": reference " + reference + ", kaccel " + kaccel);
    }
  };
  for (const char* key : {OSSL_CIPHER_PARAM_IV, OSSL_CIPHER_PARAM_UPDATED_IV}) {
    compare(key, [key](EVP_CIPHER_CTX* context) { return octet_string(context, key); });
    compare(key, [key](EVP_CIPHER_CTX* context) { return octet_pointer(context, key); });
  }
  for (const char* key : {OSSL_CIPHER_PARAM_NUM, OSSL_CIPHER_PARAM_PADDING,
                          OSSL_CIPHER_PARAM_KEYLEN, OSSL_CIPHER_PARAM_IVLEN}) {
    compare(key, [key](EVP_CIPHER_CTX* context) { return number(context, key); });
  }
  compare("several at once", several);
  ERR_clear_error();
}

// Comparison ------------------------------------------------------------------------------------

bool RandomSequence::agree(const Both& both) {
  const auto text = [](const Outcome& outcome) {
    return std::to_string(outcome.result) + " (reason " + std::to_string(outcome.reason) + ")";
  };
  if (both.reference.result == both.kaccel.result && both.reference.reason == both.kaccel.reason) {
    return true;
  }
  differ("result: reference " + text(both.reference) + ", kaccel " + text(both.kaccel));
  return false;
}

void RandomSequence::compare_output(const Both& both, std::size_t written, std::size_t guard_from) {
  const Bytes& reference = both.reference.memory;
  const Bytes& kaccel = both.kaccel.memory;
  for (std::size_t i = 0; i < written; ++i) {
    if (reference[i] != kaccel[i]) {
      differ("output from byte " + std::to_string(i) + " of " + std::to_string(written));
      return;
    }
  }
  const auto start = kaccel.begin() + static_cast<std::ptrdiff_t>(guard_from);
  if (std::any_of(start, kaccel.end(), [](std::uint8_t byte) { return byte != guard_byte; })) {
    differ("memory after the output was written to");
  }
}

void RandomSequence::note(const std::string& call) {
  log_ += "  " + call + "\n";
}

void RandomSequence::differ(const std::string& what) {
  if (difference_.empty()) difference_ = what + "; the calls, the last one differs:\n" + log_;
}

}  // namespace kaccel::testing
