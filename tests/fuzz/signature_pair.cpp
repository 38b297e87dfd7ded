#include "tests/fuzz/signature_pair.hpp"

#include <openssl/err.h>

#include <string>

namespace kaccel::fuzzing {
namespace {

constexpr std::size_t guard = EVP_MAX_MD_SIZE + 32;  // as in mac_pair.cpp
constexpr std::uint8_t guard_byte = 0xee;

struct FreeKey {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};

}  // namespace

SignaturePair::SignaturePair(const Subjects& subjects, Transcript& transcript)
    : reference_library_(subjects.reference_library()),
      kaccel_library_(subjects.kaccel_library()),
      transcript_(&transcript),
      reference_(EVP_MD_CTX_new()),
      kaccel_(EVP_MD_CTX_new()) {}

template <class Function>
bool SignaturePair::on_both(Function function) {
  struct Outcome {
    int result = 0;
    int reason = 0;
    Bytes memory;
  };
  const auto on_one = [&function](EVP_MD_CTX* context, OSSL_LIB_CTX* library) {
    Outcome outcome;
    ERR_clear_error();
    outcome.result = function(context, library, outcome.memory);
    outcome.reason = ERR_GET_REASON(ERR_peek_last_error());
    return outcome;
  };
  const Outcome reference = on_one(reference_.get(), reference_library_);
  const Outcome kaccel = on_one(kaccel_.get(), kaccel_library_);
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

void SignaturePair::init(const char* digest, const Bytes& key, bool with_key) {
  transcript_->note([&] {
    return std::string("DigestSignInit ") + (digest == nullptr ? "no digest" : digest) +
           (with_key ? ", key of " + std::to_string(key.size()) : "");
  });
  is_ready_ = on_both([&](EVP_MD_CTX* context, OSSL_LIB_CTX* library, Bytes&) {
    std::unique_ptr<EVP_PKEY, FreeKey> pkey;
    if (with_key) {
      // data() of no bytes must not be NULL.
      Bytes room = key;
      room.reserve(1);
      pkey.reset(
          EVP_PKEY_new_raw_private_key_ex(library, "HMAC", nullptr, room.data(), room.size()));
      if (pkey == nullptr) return -1;
    }
    return EVP_DigestSignInit_ex(context, nullptr, digest, library, nullptr, pkey.get(), nullptr);
  });
}

void SignaturePair::update(const Bytes& data) {
  transcript_->note([&] { return "DigestSignUpdate " + std::to_string(data.size()); });
  on_both([&](EVP_MD_CTX* context, OSSL_LIB_CTX*, Bytes&) {
    return EVP_DigestSignUpdate(context, data.data(), data.size());
  });
}

void SignaturePair::final(std::size_t capacity) {
  transcript_->note([&] { return "DigestSignFinal " + std::to_string(capacity); });
  on_both([&](EVP_MD_CTX* context, OSSL_LIB_CTX*, Bytes& memory) {
    memory.assign(capacity + guard, guard_byte);
    std::size_t size = capacity;
    const int result = EVP_DigestSignFinal(context, capacity == 0 ? nullptr : memory.data(), &size);
    if (result == 1) memory.push_back(static_cast<std::uint8_t>(size));
    return result;
  });
}

void SignaturePair::sign(const Bytes& data, std::size_t capacity) {
  transcript_->note([&] { return "DigestSign " + std::to_string(data.size()); });
  on_both([&](EVP_MD_CTX* context, OSSL_LIB_CTX*, Bytes& memory) {
    memory.assign(capacity + guard, guard_byte);
    std::size_t size = capacity;
    const int result = EVP_DigestSign(context, memory.data(), &size, data.data(), data.size());
    if (result == 1) memory.push_back(static_cast<std::uint8_t>(size));
    return result;
  });
}

// Into new contexts: what a used one keeps is EVP's affair.
void SignaturePair::become_copy_of(const SignaturePair& from) {
  transcript_->note([] { return std::string("EVP_MD_CTX_copy"); });
  reference_.reset(EVP_MD_CTX_new());
  kaccel_.reset(EVP_MD_CTX_new());
  const int reference = EVP_MD_CTX_copy_ex(reference_.get(), from.reference_.get());
  const int kaccel = EVP_MD_CTX_copy_ex(kaccel_.get(), from.kaccel_.get());
  if (reference != kaccel) throw Difference("one side cannot copy");
  is_ready_ = reference == 1 && from.is_ready_;
}

}  // namespace kaccel::fuzzing
