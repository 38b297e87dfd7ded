#include "gcm_passage.hpp"

#include <stdexcept>

#include "tests/support/evp.hpp"

namespace kaccel::vectors {
namespace {

constexpr int usual_iv_size = 12;

bool set_up(EVP_CIPHER_CTX* context, const GcmMessage& message, bool encrypt) {
  const auto iv_size = static_cast<int>(message.iv.size());
  return EVP_CipherInit_ex2(context, message.cipher, nullptr, nullptr, encrypt ? 1 : 0, nullptr) ==
             1 &&
         (iv_size == usual_iv_size ||
          EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, iv_size, nullptr) == 1) &&
         EVP_CipherInit_ex2(context, nullptr, message.key.data(), message.iv.data(), -1, nullptr) ==
             1;
}

bool set_tag(EVP_CIPHER_CTX* context, Bytes tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()),
                             tag.data()) == 1;
}

bool add_aad(EVP_CIPHER_CTX* context, const Bytes& aad, ChunkSizes sizes) {
  for (std::size_t done = 0; done < aad.size();) {
    const std::size_t size = sizes.next(aad.size() - done);
    int out_size = 0;
    if (EVP_CipherUpdate(context, nullptr, &out_size, aad.data() + done, static_cast<int>(size)) !=
        1) {
      return false;
    }
    done += size;
  }
  return true;
}

// Bytes done until the end or a refusal.
std::size_t move_text(EVP_CIPHER_CTX* context, const std::uint8_t* in, Bytes& out,
                      ChunkSizes sizes) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t size = sizes.next(out.size() - done);
    int out_size = 0;
    if (EVP_CipherUpdate(context, out.data() + done, &out_size, in + done,
                         static_cast<int>(size)) != 1 ||
        out_size != static_cast<int>(size)) {
      break;
    }
    done += size;
  }
  return done;
}

GcmOutcome pass(const GcmMessage& message, const GcmPassage& passage, bool encrypt) {
  const kaccel::testing::CipherContextPointer context(EVP_CIPHER_CTX_new());
  if (context == nullptr) throw std::runtime_error("no cipher context");
  GcmOutcome outcome{false, {}, {}};
  if (!set_up(context.get(), message, encrypt)) return outcome;
  const bool early_tag = !encrypt && !passage.late_tag;
  if (early_tag && !set_tag(context.get(), message.tag)) return outcome;
  if (!add_aad(context.get(), message.aad, {passage.aad, 1, passage.seed})) return outcome;

  outcome.text = passage.in_place ? message.text : Bytes(message.text.size(), 0xee);
  const std::uint8_t* in = passage.in_place ? outcome.text.data() : message.text.data();
  const std::size_t moved =
      move_text(context.get(), in, outcome.text, {passage.text, 1, passage.seed});
  if (moved != message.text.size()) {
    outcome.text.resize(moved);
    return outcome;
  }

  if (!encrypt && passage.late_tag && !set_tag(context.get(), message.tag)) return outcome;
  std::uint8_t nothing = 0;
  int out_size = 0;
  outcome.ok = EVP_CipherFinal_ex(context.get(), &nothing, &out_size) == 1 && out_size == 0;
  if (outcome.ok && encrypt) {
    outcome.tag.resize(message.tag.size());
    outcome.ok = EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG,
                                     static_cast<int>(outcome.tag.size()), outcome.tag.data()) == 1;
  }
  return outcome;
}

}  // namespace

const std::vector<GcmPassage>& gcm_passages() {
  using enum Chunks;
  static const std::vector<GcmPassage> passages{
      {one, one, false, false, 0},          {one, single_bytes, true, true, 0},
      {single_bytes, one, false, false, 0}, {random, random, false, true, 1},
      {random, one, true, false, 2},        {random, random, true, true, 3},
  };
  return passages;
}

std::string describe(const GcmPassage& passage) {
  return describe(passage.text, passage.seed) + ", AAD " + describe(passage.aad, passage.seed) +
         (passage.in_place ? ", in place" : "") + (passage.late_tag ? ", tag set late" : "");
}

GcmOutcome seal(const GcmMessage& message, const GcmPassage& passage) {
  return pass(message, passage, true);
}

GcmOutcome open(const GcmMessage& message, const GcmPassage& passage) {
  return pass(message, passage, false);
}

}  // namespace kaccel::vectors
