#include "tests/fuzz/mac_pair.hpp"

#include <openssl/err.h>

#include <array>
#include <string>

namespace kaccel::fuzzing {
namespace {

// Bytes after a buffer that must stay as they are on both sides or be written on both: after an
// init that it refused for SHAKE128, OpenSSL takes the size of that one's output for its MAC's.
constexpr std::size_t guard = EVP_MAX_MD_SIZE + 32;
constexpr std::uint8_t guard_byte = 0xee;

// How many bytes there are, and the bytes with their guard, untouched beyond.
void put_output(Bytes& memory, const Bytes& out, std::size_t written) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    memory.push_back(static_cast<std::uint8_t>(written >> shift));
  }
  memory.insert(memory.end(), out.begin(), out.end());
}

}  // namespace

MacPair::MacPair(const Subjects& subjects, Transcript& transcript)
    : transcript_(&transcript),
      reference_(EVP_MAC_CTX_new(const_cast<EVP_MAC*>(subjects.reference_hmac()))),
      kaccel_(EVP_MAC_CTX_new(const_cast<EVP_MAC*>(subjects.kaccel_hmac()))) {}

// `function` leaves in the outcome's memory whatever must be the same. Returns whether the call
// succeeded.
template <class Function>
bool MacPair::on_both(Function function) {
  const auto on_one = [&function](EVP_MAC_CTX* context) {
    Outcome outcome;
    ERR_clear_error();
    outcome.result = function(context, outcome.memory);
    outcome.reason = ERR_GET_REASON(ERR_peek_last_error());
    return outcome;
  };
  const Outcome reference = on_one(reference_.get());
  const Outcome kaccel = on_one(kaccel_.get());
  const auto text = [](const Outcome& outcome) {
    return std::to_string(outcome.result) + " (reason " + std::to_string(outcome.reason) + ") " +
           hex(outcome.memory);
  };
  transcript_->note([&] { return "  = " + text(reference); });
  if (reference.result != kaccel.result || reference.reason != kaccel.reason ||
      reference.memory != kaccel.memory) {
    throw Difference("OpenSSL " + text(reference) + ", kaccel " + text(kaccel));
  }
  return reference.result == 1;
}

bool MacPair::init(const std::uint8_t* key, std::size_t key_size, const OSSL_PARAM* params) {
  transcript_->note([&] {
    return "init" + (key == nullptr ? "" : " key of " + std::to_string(key_size)) +
           parameters_to_text(params);
  });
  return on_both(
      [&](EVP_MAC_CTX* context, Bytes&) { return EVP_MAC_init(context, key, key_size, params); });
}

bool MacPair::update(const Bytes& data, std::size_t size) {
  transcript_->note([&] { return "update " + std::to_string(size); });
  return on_both(
      [&](EVP_MAC_CTX* context, Bytes&) { return EVP_MAC_update(context, data.data(), size); });
}

bool MacPair::final(std::size_t capacity, bool with_output) {
  transcript_->note(
      [&] { return "final " + std::to_string(capacity) + (with_output ? "" : " without output"); });
  return on_both([&](EVP_MAC_CTX* context, Bytes& memory) {
    Bytes out(capacity + guard, guard_byte);
    std::size_t written = 0;
    const int result =
        EVP_MAC_final(context, with_output ? out.data() : nullptr, &written, capacity);
    put_output(memory, out, result == 1 ? written : 0);
    return result;
  });
}

bool MacPair::final_xof(std::size_t capacity) {
  transcript_->note([&] { return "finalXOF " + std::to_string(capacity); });
  return on_both([&](EVP_MAC_CTX* context, Bytes& memory) {
    Bytes out(capacity + guard, guard_byte);
    const int result = EVP_MAC_finalXOF(context, out.data(), capacity);
    put_output(memory, out, 0);
    return result;
  });
}

bool MacPair::set(const ParameterList& parameters) {
  transcript_->note([&] { return "set" + parameters_to_text(parameters.get()); });
  return on_both([&](EVP_MAC_CTX* context, Bytes&) {
    return EVP_MAC_CTX_set_params(context, parameters.get());
  });
}

void MacPair::query(const QueryList& queries) {
  transcript_->note([&] { return "query" + to_text(queries); });
  on_both([&](EVP_MAC_CTX* context, Bytes& memory) {
    Answers answers(queries);
    const int result = EVP_MAC_CTX_get_params(context, answers.params());
    if (result == 1) memory = answers.collect();
    return result;
  });
}

void MacPair::compare_sizes() {
  transcript_->note([] { return std::string("sizes"); });
  on_both([](EVP_MAC_CTX* context, Bytes& memory) {
    memory.push_back(static_cast<std::uint8_t>(EVP_MAC_CTX_get_mac_size(context)));
    memory.push_back(static_cast<std::uint8_t>(EVP_MAC_CTX_get_block_size(context)));
    return 1;
  });
}

void MacPair::become_copy_of(const MacPair& from) {
  transcript_->note([] { return std::string("dup"); });
  ERR_clear_error();
  MacContextPointer reference(EVP_MAC_CTX_dup(from.reference_.get()));
  MacContextPointer kaccel(EVP_MAC_CTX_dup(from.kaccel_.get()));
  if ((reference == nullptr) != (kaccel == nullptr)) throw Difference("one side cannot copy");
  if (reference == nullptr) return;
  reference_ = std::move(reference);
  kaccel_ = std::move(kaccel);
}

}  // namespace kaccel::fuzzing
