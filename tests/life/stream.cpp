#include "tests/life/stream.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kaccel::testing {
namespace {

constexpr std::size_t tag_size = 16;
constexpr std::size_t aad_part = 1 << 20;  // where AAD is taken from, so that it is not the text
constexpr std::string_view hmac = "HMAC-";

bool is_mac(const Script& script) {
  return std::string_view(script.algorithm).starts_with(hmac);
}

std::size_t data_size(const Script& script) {
  std::size_t size = 0;
  for (const Step& step : script.steps) {
    if (step.call == Step::Call::data) size += step.size;
  }
  return size;
}

}  // namespace

Bytes test_bytes(std::size_t size, std::uint32_t seed) {
  Bytes bytes(size);
  std::uint64_t state = seed * 0x9e37'79b9'7f4a'7c15U + 1;
  for (std::uint8_t& byte : bytes) {
    state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  return bytes;
}

void PrintTo(const Script& script, std::ostream* out) {
  *out << script.name;
}

Stream::Stream(const LibraryContext& library, const Script& script, const Bytes& input,
               const Bytes& tag)
    : script_(script), input_(input), tag_(tag) {
  if (is_mac(script)) {
    const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(library.get(), "HMAC", nullptr));
    mac_.reset(mac == nullptr ? nullptr : EVP_MAC_CTX_new(mac.get()));
    if (mac_ == nullptr) throw std::runtime_error("no HMAC");
  } else {
    cipher_ = fetch_cipher(library, script.algorithm);
    context_.reset(EVP_CIPHER_CTX_new());
    if (cipher_ == nullptr || context_ == nullptr) {
      throw std::runtime_error(std::string("no ") + script.algorithm);
    }
  }
}

Stream::Stream(const Stream& other, CipherContextPointer context, EVP_MAC_CTX* mac)
    : script_(other.script_),
      input_(other.input_),
      tag_(other.tag_),
      cipher_(other.cipher_),
      context_(std::move(context)),
      mac_(mac),
      ivs_(other.ivs_),
      consumed_(other.consumed_),
      output_(other.output_) {}

std::unique_ptr<Stream> Stream::duplicate() const {
  if (mac_ != nullptr) {
    EVP_MAC_CTX* copy = EVP_MAC_CTX_dup(mac_.get());
    if (copy == nullptr) throw std::runtime_error("a MAC cannot be duplicated");
    return std::unique_ptr<Stream>(new Stream(*this, nullptr, copy));
  }
  CipherContextPointer copy(EVP_CIPHER_CTX_new());
  if (EVP_CIPHER_CTX_copy(copy.get(), context_.get()) != 1) {
    throw std::runtime_error("a cipher cannot be copied");
  }
  return std::unique_ptr<Stream>(new Stream(*this, std::move(copy), nullptr));
}

std::string Stream::run(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    if (!step(script_.steps[i])) return "step " + std::to_string(i) + " failed";
  }
  return {};
}

bool Stream::step(const Step& step) {
  return mac_ != nullptr ? mac_step(step) : cipher_step(step);
}

bool Stream::mac_step(const Step& step) {
  if (step.call == Step::Call::init) {
    std::string digest(script_.algorithm + hmac.size());
    const std::array params{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_end()};
    const Bytes key = test_bytes(32, 1);
    return EVP_MAC_init(mac_.get(), key.data(), key.size(), params.data()) == 1;
  }
  if (step.call == Step::Call::data) {
    consumed_ += step.size;
    return EVP_MAC_update(mac_.get(), input_.data() + consumed_ - step.size, step.size) == 1;
  }
  Bytes result(EVP_MAX_MD_SIZE);
  std::size_t size = 0;
  if (EVP_MAC_final(mac_.get(), result.data(), &size, result.size()) != 1) return false;
  output_.insert(output_.end(), result.begin(), result.begin() + static_cast<std::ptrdiff_t>(size));
  return true;
}

bool Stream::cipher_step(const Step& step) {
  EVP_CIPHER_CTX* context = context_.get();
  int written = 0;
  Bytes out(step.size + 32);
  switch (step.call) {
    case Step::Call::init: {
      const Bytes key = test_bytes(64, 1);
      const Bytes iv = test_bytes(16, 100);
      return EVP_CipherInit_ex2(context, cipher_.get(), key.data(), iv.data(),
                                script_.encrypt ? 1 : 0, nullptr) == 1;
    }
    case Step::Call::iv: {
      const Bytes iv = test_bytes(16, 101 + ivs_++);
      return EVP_CipherInit_ex2(context, nullptr, nullptr, iv.data(), -1, nullptr) == 1;
    }
    case Step::Call::aad: {
      const Bytes aad = test_bytes(step.size, aad_part);
      return EVP_CipherUpdate(context, nullptr, &written, aad.data(),
                              static_cast<int>(step.size)) == 1;
    }
    case Step::Call::data:
      consumed_ += step.size;
      if (EVP_CipherUpdate(context, out.data(), &written, input_.data() + consumed_ - step.size,
                           static_cast<int>(step.size)) != 1) {
        return false;
      }
      break;
    case Step::Call::end:
      if (EVP_CipherFinal_ex(context, out.data(), &written) != 1) return false;
      break;
    case Step::Call::set_tag: {
      Bytes tag = tag_;
      return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()),
                                 tag.data()) == 1;
    }
    case Step::Call::get_tag:
      if (EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size, out.data()) != 1) {
        return false;
      }
      written = tag_size;
      break;
  }
  output_.insert(output_.end(), out.begin(), out.begin() + written);
  return true;
}

Bytes input_of(const Script& script, Bytes& tag) {
  tag.clear();
  Bytes text = test_bytes(data_size(script), 7);
  const std::string_view algorithm = script.algorithm;
  const bool gcm = algorithm.ends_with("GCM");
  const bool padded = algorithm.ends_with("CBC") || algorithm.ends_with("ECB");
  if (script.encrypt || is_mac(script) || !(gcm || padded)) return text;
  // The other direction, in one update. Padding fills the last block up.
  Script inverse{script.name, script.algorithm, true, {{Step::Call::init}}};
  for (const Step& step : script.steps) {
    if (step.call == Step::Call::aad) inverse.steps.push_back(step);
  }
  inverse.steps.push_back({Step::Call::data, text.size() - (padded ? 1 : 0)});
  inverse.steps.push_back({Step::Call::end});
  if (gcm) inverse.steps.push_back({Step::Call::get_tag});
  const LibraryContext reference = LibraryContext::with_default_provider();
  Stream stream(reference, inverse, text, tag);
  if (const std::string failed = stream.run(0, inverse.steps.size()); !failed.empty()) {
    throw std::runtime_error(failed);
  }
  Bytes input = stream.output();
  if (gcm) {
    tag.assign(input.end() - tag_size, input.end());
    input.resize(input.size() - tag_size);
  }
  return input;
}

}  // namespace kaccel::testing
