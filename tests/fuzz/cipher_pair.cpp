#include "tests/fuzz/cipher_pair.hpp"

#include <openssl/err.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/fuzz/fixed_random.hpp"

namespace kaccel::fuzzing {
namespace {

constexpr std::size_t block = 16;
constexpr std::size_t guard = 32;  // bytes after a buffer that must stay as they are
constexpr std::uint8_t guard_byte = 0xee;

std::string to_text(int result, int reason) {
  return std::to_string(result) + " (reason " + std::to_string(reason) + ")";
}

const char* to_text(CipherPair::Place place) {
  switch (place) {
    case CipherPair::Place::apart:
      return "";
    case CipherPair::Place::in_place:
      return " in place";
    case CipherPair::Place::no_output:
      return " without output";
    case CipherPair::Place::no_input:
      return " without input";
  }
  return "";
}

}  // namespace

CipherPair::CipherPair(const CipherSubject& subject, Transcript& transcript)
    : subject_(subject),
      transcript_(transcript),
      reference_(EVP_CIPHER_CTX_new()),
      kaccel_(EVP_CIPHER_CTX_new()) {}

bool CipherPair::is_encrypting() const noexcept {
  return EVP_CIPHER_CTX_is_encrypting(reference_.get()) != 0;
}

// Comparison --------------------------------------------------------------------------------------

template <class Function>
CipherPair::Both CipherPair::on_both(Function function) {
  const auto on_one = [&function](EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher) {
    Outcome outcome;
    restart_random(1);
    ERR_clear_error();
    outcome.result = function(context, cipher, outcome);
    outcome.ok = outcome.result > 0;
    outcome.reason = ERR_GET_REASON(ERR_peek_last_error());
    return outcome;
  };
  Both both{on_one(reference_.get(), subject_.reference), on_one(kaccel_.get(), subject_.kaccel)};
  transcript_.note([&] { return "  = " + to_text(both.reference.result, both.reference.reason); });
  return both;
}

// Whether the call did the same on both sides.
bool CipherPair::agree(const Both& both) {
  const bool same_result = both.reference.result == both.kaccel.result;
  if (same_result && (may_refuse_ || both.reference.reason == both.kaccel.reason)) return true;
  if (may_refuse_ && both.reference.ok && !both.kaccel.ok) {
    transcript_.note([] { return std::string("  = refused by kaccel, as it may"); });
    is_lost_ = true;
    return false;
  }
  throw Difference("result: OpenSSL " + to_text(both.reference.result, both.reference.reason) +
                   ", kaccel " + to_text(both.kaccel.result, both.kaccel.reason));
}

void CipherPair::compare_output(const Both& both, std::size_t written, std::size_t guard_from) {
  const Bytes& reference = both.reference.memory;
  const Bytes& kaccel = both.kaccel.memory;
  const auto end = reference.begin() + static_cast<std::ptrdiff_t>(written);
  const auto first = std::mismatch(reference.begin(), end, kaccel.begin()).first;
  if (first != end) {
    throw Difference("output from byte " + std::to_string(first - reference.begin()) + " of " +
                     std::to_string(written));
  }
  const auto start = kaccel.begin() + static_cast<std::ptrdiff_t>(guard_from);
  if (std::any_of(start, kaccel.end(), [](std::uint8_t byte) { return byte != guard_byte; })) {
    throw Difference("memory after the output was written to");
  }
}

// Calls -------------------------------------------------------------------------------------------

bool CipherPair::init(const Init& init) {
  transcript_.note([&] {
    return std::string("init") + (init.name_cipher ? " cipher" : "") +
           (init.key != nullptr ? " key" : "") + (init.iv != nullptr ? " iv" : "") +
           (init.direction == 1   ? " encrypt"
            : init.direction == 0 ? " decrypt"
                                  : "") +
           parameters_to_text(init.params);
  });
  if (init.name_cipher) may_refuse_ = is_lost_ = false;
  const Both both = on_both([&](EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, Outcome&) {
    return EVP_CipherInit_ex2(context, init.name_cipher ? cipher : nullptr, init.key, init.iv,
                              init.direction, init.params);
  });
  has_cipher_ = has_cipher_ || init.name_cipher;
  return agree(both) && both.reference.ok;
}

CipherPair::Moved CipherPair::move(const Movement& movement, const Bytes& data) {
  const std::size_t size = data.size();
  transcript_.note([&] {
    return (movement.call == Call::update ? "update " : "EVP_Cipher ") + std::to_string(size) +
           to_text(movement.place) +
           (movement.held == 0 ? "" : ", held " + std::to_string(movement.held));
  });
  const Both both = on_both([&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome& outcome) {
    Bytes& memory = outcome.memory;
    std::uint8_t* out = nullptr;
    const std::uint8_t* in = nullptr;
    if (movement.place == Place::in_place) {
      memory.assign(movement.held + size + block + guard, guard_byte);
      std::copy(data.begin(), data.end(),
                memory.begin() + static_cast<std::ptrdiff_t>(movement.held));
      out = memory.data();
      in = memory.data() + movement.held;
    } else {
      memory.assign(size + block + guard, guard_byte);
      outcome.input = data;
      if (movement.place != Place::no_output) out = memory.data();
      // An empty vector's data() may be NULL, which would be another call.
      const std::uint8_t* start = size == 0 ? memory.data() : outcome.input.data();
      if (movement.place != Place::no_input) in = start;
    }
    if (movement.call == Call::update) {
      return EVP_CipherUpdate(context, out, &outcome.written, in, static_cast<int>(size));
    }
    outcome.written = EVP_Cipher(context, out, in, static_cast<unsigned int>(size));
    return outcome.written + 1;  // 0 is a success, -1 is none
  });
  if (!agree(both)) return {false, 0};
  const std::size_t end = both.reference.memory.size() - guard;
  if (movement.compares_everything) compare_output(both, end, end);
  if (!both.reference.ok) {
    compare_output(both, 0, end);
    return {false, 0};
  }
  if (both.reference.written != both.kaccel.written) {
    throw Difference("bytes written: OpenSSL " + std::to_string(both.reference.written) +
                     ", kaccel " + std::to_string(both.kaccel.written));
  }
  const auto written = static_cast<std::size_t>(both.reference.written);
  if (movement.compares_everything) return {true, written};
  if (movement.place == Place::in_place) {
    compare_output(both, std::min(written, end), movement.held + size + block);
  } else {
    const bool writes = movement.place == Place::apart;
    compare_output(both, writes ? written : 0, writes ? written : 0);
    if (both.kaccel.input != data) throw Difference("the input was changed");
  }
  return {true, written};
}

CipherPair::Moved CipherPair::final() {
  transcript_.note([] { return std::string("final"); });
  const Both both = on_both([](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome& outcome) {
    outcome.memory.assign(block + guard, guard_byte);
    return EVP_CipherFinal_ex(context, outcome.memory.data(), &outcome.written);
  });
  if (!agree(both)) return {false, 0};
  if (!both.reference.ok) {
    compare_output(both, 0, block);
    return {false, 0};
  }
  if (both.reference.written != both.kaccel.written) throw Difference("bytes written by final");
  const auto written = static_cast<std::size_t>(both.reference.written);
  compare_output(both, written, block);
  return {true, written};
}

int CipherPair::control(int type, int argument, const Bytes& buffer) {
  transcript_.note([&] {
    return "ctrl " + std::to_string(type) + ", argument " + std::to_string(argument) + ", " +
           hex({buffer.data(), std::min<std::size_t>(buffer.size(), block)});
  });
  const Both both = on_both([&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome& outcome) {
    outcome.memory = buffer;
    return EVP_CIPHER_CTX_ctrl(context, type, argument, outcome.memory.data());
  });
  if (!agree(both) || !both.reference.ok) return 0;
  if (both.reference.memory != both.kaccel.memory) {
    throw Difference("answer: OpenSSL " + hex(both.reference.memory) + ", kaccel " +
                     hex(both.kaccel.memory));
  }
  return both.reference.result;
}

bool CipherPair::set(const ParameterList& parameters) {
  transcript_.note([&] { return "set" + parameters_to_text(parameters.get()); });
  const Both both = on_both([&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome&) {
    return EVP_CIPHER_CTX_set_params(context, parameters.get());
  });
  return agree(both) && both.reference.ok;
}

void CipherPair::query(const QueryList& queries) {
  transcript_.note([&] { return "query" + to_text(queries); });
  const Both both = on_both([&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome& outcome) {
    Answers answers(queries);
    const int result = EVP_CIPHER_CTX_get_params(context, answers.params());
    if (result == 1) outcome.memory = answers.collect();
    return result;
  });
  if (!agree(both) || !both.reference.ok) return;
  if (both.reference.memory != both.kaccel.memory) {
    throw Difference("answer: OpenSSL " + hex(both.reference.memory) + ", kaccel " +
                     hex(both.kaccel.memory));
  }
}

bool CipherPair::set_padding(int padding) {
  transcript_.note([&] { return "padding " + std::to_string(padding); });
  const Both both = on_both([&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome&) {
    return EVP_CIPHER_CTX_set_padding(context, padding);
  });
  return agree(both) && both.reference.ok;
}

bool CipherPair::set_key_length(int bytes) {
  transcript_.note([&] { return "key length " + std::to_string(bytes); });
  const Both both = on_both([&](EVP_CIPHER_CTX* context, const EVP_CIPHER*, Outcome&) {
    return EVP_CIPHER_CTX_set_key_length(context, bytes);
  });
  return agree(both) && both.reference.ok;
}

bool CipherPair::copy(const CipherPair& from) {
  transcript_.note([] { return std::string("copy"); });
  Both both;
  ERR_clear_error();
  both.reference.result = EVP_CIPHER_CTX_copy(reference_.get(), from.reference_.get());
  both.reference.reason = ERR_GET_REASON(ERR_peek_last_error());
  ERR_clear_error();
  both.kaccel.result = EVP_CIPHER_CTX_copy(kaccel_.get(), from.kaccel_.get());
  both.kaccel.reason = ERR_GET_REASON(ERR_peek_last_error());
  has_cipher_ = from.has_cipher_;
  may_refuse_ = false;
  agree(both);
  may_refuse_ = from.may_refuse_;
  is_lost_ = from.is_lost_;
  return both.reference.result == 1;
}

}  // namespace kaccel::fuzzing
