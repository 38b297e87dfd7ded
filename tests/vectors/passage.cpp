#include "passage.hpp"

#include <algorithm>
#include <stdexcept>

#include "tests/support/evp.hpp"

namespace kaccel::vectors {
namespace {

constexpr std::size_t room_for_padding = 32;

}  // namespace

const std::vector<Passage>& all_passages() {
  static const std::vector<Passage> passages{
      {Chunks::one, false, 0},    {Chunks::one, true, 0},    {Chunks::single_bytes, false, 0},
      {Chunks::random, false, 1}, {Chunks::random, true, 2}, {Chunks::random, false, 3},
  };
  return passages;
}

const std::vector<Passage>& uncut_passages() {
  static const std::vector<Passage> passages{{Chunks::one, false, 0}, {Chunks::one, true, 0}};
  return passages;
}

std::string describe(const Passage& passage) {
  return describe(passage.chunks, passage.seed) + (passage.in_place ? ", in place" : "");
}

Outcome pass(const Message& message, const Passage& passage) {
  const kaccel::testing::CipherContextPointer context(EVP_CIPHER_CTX_new());
  if (context == nullptr ||
      EVP_CipherInit_ex2(context.get(), message.cipher, message.key.data(),
                         message.iv.empty() ? nullptr : message.iv.data(), message.encrypt ? 1 : 0,
                         nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), message.padding ? 1 : 0) != 1) {
    throw std::runtime_error("the cipher cannot be set up");
  }

  Bytes output(message.input.size() + room_for_padding);
  std::copy(message.input.begin(), message.input.end(), output.begin());
  const std::uint8_t* in = passage.in_place ? output.data() : message.input.data();
  if (!passage.in_place) std::fill(output.begin(), output.end(), std::uint8_t{0xee});

  const auto block = static_cast<std::size_t>(EVP_CIPHER_get_block_size(message.cipher));
  ChunkSizes sizes(passage.chunks, passage.in_place ? block : 1, passage.seed);
  std::size_t consumed = 0;
  std::size_t written = 0;
  int out_size = 0;
  while (consumed < message.input.size()) {
    const std::size_t size = sizes.next(message.input.size() - consumed);
    if (EVP_CipherUpdate(context.get(), output.data() + written, &out_size, in + consumed,
                         static_cast<int>(size)) != 1) {
      return {false, Bytes(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(written))};
    }
    consumed += size;
    written += static_cast<std::size_t>(out_size);
  }
  const bool ok = EVP_CipherFinal_ex(context.get(), output.data() + written, &out_size) == 1;
  if (ok) written += static_cast<std::size_t>(out_size);
  output.resize(written);
  return {ok, std::move(output)};
}

}  // namespace kaccel::vectors
