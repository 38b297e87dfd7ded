#include "tests/support/context_pair.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace kaccel::testing {
namespace {

constexpr std::size_t tag_size = 16;

struct FreeMac {
  void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
};
using MacPointer = std::unique_ptr<EVP_MAC, FreeMac>;
using MacContextPointer = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

// No two bytes' parts are equal, as XTS and 3DES want it.
std::array<std::uint8_t, 64> bytes_of(std::uint64_t number, std::uint8_t purpose) {
  std::array<std::uint8_t, 64> bytes{};
  std::uint64_t state = number * 0x9e37'79b9'7f4a'7c15U + purpose;
  for (std::uint8_t& byte : bytes) {
    state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string compare(const std::string& algorithm, const char* call,
                    const std::optional<Bytes>& kaccel, const std::optional<Bytes>& reference) {
  if (!kaccel || !reference) {
    return algorithm + ": " + call + " failed" + (kaccel ? "" : " in kaccel") +
           (reference ? "" : " in the default provider");
  }
  if (*kaccel == *reference) return {};
  return algorithm + ": " + call + ": " + std::to_string(kaccel->size()) + " and " +
         std::to_string(reference->size()) + " bytes that are not the same";
}

class CipherPair final : public ContextPair {
 public:
  CipherPair(const std::string& algorithm, const EVP_CIPHER* kaccel, const EVP_CIPHER* reference)
      : algorithm_(algorithm), ciphers_{kaccel, reference} {
    for (auto& context : contexts_) context.reset(EVP_CIPHER_CTX_new());
  }

  std::string init(std::uint64_t key_number, bool encrypt) override {
    messages_ = key_number << 20;
    held_ = 0;
    const int mode = EVP_CIPHER_get_mode(ciphers_[0]);
    encrypt = encrypt || mode == EVP_CIPH_GCM_MODE;
    const auto one = [&](std::size_t side) -> std::optional<Bytes> {
      EVP_CIPHER_CTX* context = contexts_[side].get();
      const auto key = bytes_of(key_number, 1);
      const auto iv = bytes_of(key_number, 2);
      // Naming the cipher again would begin with new contexts.
      const bool first = EVP_CIPHER_CTX_get0_cipher(context) == nullptr;
      const bool ok = EVP_CipherInit_ex2(context, first ? ciphers_[side] : nullptr, key.data(),
                                         iv.data(), encrypt ? 1 : 0, nullptr) == 1 &&
                      EVP_CIPHER_CTX_set_padding(context, 0) == 1;
      return ok ? std::optional<Bytes>(Bytes{}) : std::nullopt;
    };
    return compare(algorithm_, "init", one(0), one(1));
  }

  std::string use(std::span<const std::uint8_t> data, Place place) override {
    ++messages_;
    const auto kaccel = used(0, data, place);
    const auto reference = used(1, data, place);
    const bool stream = EVP_CIPHER_get_block_size(ciphers_[0]) > 1;
    if (stream && reference) held_ += data.size() - reference->size();
    return compare(algorithm_, "update", kaccel, reference);
  }

  std::unique_ptr<ContextPair> duplicate() const override {
    auto copy = std::make_unique<CipherPair>(algorithm_, ciphers_[0], ciphers_[1]);
    copy->messages_ = messages_;
    copy->held_ = held_;
    for (std::size_t side = 0; side < contexts_.size(); ++side) {
      if (EVP_CIPHER_CTX_copy(copy->contexts_[side].get(), contexts_[side].get()) != 1) {
        return nullptr;
      }
    }
    return copy;
  }

 private:
  std::optional<Bytes> used(std::size_t side, std::span<const std::uint8_t> data, Place place) {
    EVP_CIPHER_CTX* context = contexts_[side].get();
    const int mode = EVP_CIPHER_get_mode(ciphers_[side]);
    if (mode == EVP_CIPH_GCM_MODE || mode == EVP_CIPH_XTS_MODE) {
      const auto iv = bytes_of(messages_, 3);
      if (EVP_CipherInit_ex2(context, nullptr, nullptr, iv.data(), -1, nullptr) != 1) return {};
    }
    Bytes out(data.size() + 2 * tag_size);
    int written = 0;
    // A stream that holds bytes back writes them first: its output begins as far before the input.
    const std::size_t held = place == Place::in_place ? held_ : 0;
    if (place == Place::in_place) {
      std::copy(data.begin(), data.end(), out.begin() + static_cast<std::ptrdiff_t>(held));
    }
    const std::uint8_t* in = place == Place::in_place ? out.data() + held : data.data();
    if (EVP_CipherUpdate(context, out.data(), &written, in, static_cast<int>(data.size())) != 1) {
      return {};
    }
    auto size = static_cast<std::size_t>(written);
    if (mode == EVP_CIPH_GCM_MODE) {
      if (EVP_CipherFinal_ex(context, out.data() + size, &written) != 1 ||
          EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size, out.data() + size) != 1) {
        return {};
      }
      size += tag_size;
    }
    out.resize(size);
    return out;
  }

  const std::string& algorithm_;
  const std::array<const EVP_CIPHER*, 2> ciphers_;
  std::array<CipherContextPointer, 2> contexts_;
  std::uint64_t messages_ = 0;
  std::size_t held_ = 0;  // bytes of the stream that no output has been given for
};

class MacPair final : public ContextPair {
 public:
  MacPair(const std::string& algorithm, MacContextPointer kaccel, MacContextPointer reference)
      : algorithm_(algorithm), contexts_{std::move(kaccel), std::move(reference)} {}

  std::string init(std::uint64_t key_number, bool) override {
    const auto one = [&](std::size_t side) -> std::optional<Bytes> {
      std::string digest = algorithm_.substr(std::strlen("HMAC-"));
      const std::array params{
          OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
          OSSL_PARAM_construct_end()};
      const auto key = bytes_of(key_number, 1);
      const bool ok = EVP_MAC_init(contexts_[side].get(), key.data(), 32, params.data()) == 1;
      return ok ? std::optional<Bytes>(Bytes{}) : std::nullopt;
    };
    return compare(algorithm_, "init", one(0), one(1));
  }

  std::string use(std::span<const std::uint8_t> data, Place) override {
    const auto one = [&](std::size_t side) -> std::optional<Bytes> {
      EVP_MAC_CTX* context = contexts_[side].get();
      Bytes result(EVP_MAX_MD_SIZE);
      std::size_t size = 0;
      if (EVP_MAC_init(context, nullptr, 0, nullptr) != 1 ||
          EVP_MAC_update(context, data.data(), data.size()) != 1 ||
          EVP_MAC_final(context, result.data(), &size, result.size()) != 1) {
        return {};
      }
      result.resize(size);
      return result;
    };
    return compare(algorithm_, "message", one(0), one(1));
  }

  std::unique_ptr<ContextPair> duplicate() const override {
    MacContextPointer kaccel(EVP_MAC_CTX_dup(contexts_[0].get()));
    MacContextPointer reference(EVP_MAC_CTX_dup(contexts_[1].get()));
    if (kaccel == nullptr || reference == nullptr) return nullptr;
    return std::make_unique<MacPair>(algorithm_, std::move(kaccel), std::move(reference));
  }

 private:
  const std::string& algorithm_;
  std::array<MacContextPointer, 2> contexts_;
};

}  // namespace

struct PairMaker::Algorithms {
  CipherPointer kaccel_cipher, reference_cipher;
  MacPointer kaccel_mac, reference_mac;
};

PairMaker::PairMaker(const LibraryContext& kaccel, const LibraryContext& reference,
                     std::string algorithm)
    : algorithm_(std::move(algorithm)), algorithms_(std::make_unique<Algorithms>()) {
  const bool is_mac = algorithm_.starts_with("HMAC-");
  if (is_mac) {
    algorithms_->kaccel_mac.reset(EVP_MAC_fetch(kaccel.get(), "HMAC", nullptr));
    algorithms_->reference_mac.reset(EVP_MAC_fetch(reference.get(), "HMAC", nullptr));
  } else {
    algorithms_->kaccel_cipher = fetch_cipher(kaccel, algorithm_.c_str());
    algorithms_->reference_cipher = fetch_cipher(reference, algorithm_.c_str());
  }
  const bool found =
      is_mac ? algorithms_->kaccel_mac != nullptr && algorithms_->reference_mac != nullptr
             : algorithms_->kaccel_cipher != nullptr && algorithms_->reference_cipher != nullptr;
  if (!found) throw std::runtime_error("no " + algorithm_);
}

PairMaker::PairMaker(PairMaker&&) noexcept = default;
PairMaker::~PairMaker() = default;

std::unique_ptr<ContextPair> PairMaker::make() const {
  if (algorithms_->kaccel_mac == nullptr) {
    return std::make_unique<CipherPair>(algorithm_, algorithms_->kaccel_cipher.get(),
                                        algorithms_->reference_cipher.get());
  }
  MacContextPointer kaccel(EVP_MAC_CTX_new(algorithms_->kaccel_mac.get()));
  MacContextPointer reference(EVP_MAC_CTX_new(algorithms_->reference_mac.get()));
  if (kaccel == nullptr || reference == nullptr) return nullptr;
  return std::make_unique<MacPair>(algorithm_, std::move(kaccel), std::move(reference));
}

}  // namespace kaccel::testing
