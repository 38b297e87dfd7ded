#include "hmac_passage.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>
#include <span>
#include <stdexcept>

namespace kaccel::vectors {
namespace {

using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("EVP refuses to ") + what);
}

MacContext begin(const HmacMessage& message) {
  MacContext context(EVP_MAC_CTX_new(message.mac));
  require(context != nullptr, "make a context");
  std::string digest(message.digest);
  const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                          OSSL_PARAM_construct_end()};
  require(EVP_MAC_init(context.get(), message.key.data(), message.key.size(), params.data()) == 1,
          "take key and digest");
  return context;
}

void add(EVP_MAC_CTX* context, std::span<const std::uint8_t> data, ChunkSizes& sizes) {
  while (!data.empty()) {
    const std::size_t size = sizes.next(data.size());
    require(EVP_MAC_update(context, data.data(), size) == 1, "take data");
    data = data.subspan(size);
  }
}

Bytes finish(EVP_MAC_CTX* context) {
  Bytes result(EVP_MAX_MD_SIZE);
  std::size_t size = 0;
  require(EVP_MAC_final(context, result.data(), &size, result.size()) == 1, "end");
  result.resize(size);
  return result;
}

}  // namespace

MacPointer fetch_hmac(const kaccel::testing::LibraryContext& library) {
  return MacPointer(EVP_MAC_fetch(library.get(), "HMAC", nullptr));
}

const std::vector<HmacPassage>& hmac_passages() {
  static const std::vector<HmacPassage> passages{
      {Chunks::one, Reuse::none, 0},        {Chunks::single_bytes, Reuse::none, 0},
      {Chunks::random, Reuse::none, 1},     {Chunks::one, Reuse::duplicated, 0},
      {Chunks::one, Reuse::same_key, 0},    {Chunks::random, Reuse::duplicated, 2},
      {Chunks::random, Reuse::same_key, 3},
  };
  return passages;
}

std::string describe(const HmacPassage& passage) {
  return describe(passage.chunks, passage.seed) +
         (passage.reuse == Reuse::duplicated ? ", duplicated half-way"
          : passage.reuse == Reuse::same_key ? ", then again without a key"
                                             : "");
}

std::vector<Bytes> pass(const HmacMessage& message, const HmacPassage& passage) {
  const MacContext context = begin(message);
  ChunkSizes sizes(passage.chunks, 1, passage.seed);
  const std::span<const std::uint8_t> whole(message.message);
  if (passage.reuse == Reuse::none) {
    add(context.get(), whole, sizes);
    return {finish(context.get())};
  }
  if (passage.reuse == Reuse::same_key) {
    add(context.get(), whole, sizes);
    const Bytes first = finish(context.get());
    require(EVP_MAC_init(context.get(), nullptr, 0, nullptr) == 1, "begin again");
    add(context.get(), whole, sizes);
    return {first, finish(context.get())};
  }
  const std::size_t half = whole.size() / 2;
  add(context.get(), whole.first(half), sizes);
  const MacContext copy(EVP_MAC_CTX_dup(context.get()));
  require(copy != nullptr, "duplicate");
  add(context.get(), whole.subspan(half), sizes);
  const Bytes original = finish(context.get());
  add(copy.get(), whole.subspan(half), sizes);
  return {original, finish(copy.get())};
}

}  // namespace kaccel::vectors
