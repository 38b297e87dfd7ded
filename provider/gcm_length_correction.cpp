#include "provider/gcm_length_correction.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace kaccel {
namespace {

// An element of GF(2^128) in GCM's order: the highest bit of `first` is the coefficient of x^0, the
// lowest bit of `second` that of x^127.
struct Element {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

constexpr unsigned bits_of_half = 64;
// What is shifted out, folded back, must not be shifted out again: 64 less the 7 of x^7.
constexpr unsigned longest_shift = 57;

std::uint64_t load(const std::uint8_t* bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

void store(std::uint8_t* bytes, std::uint64_t value) noexcept {
  for (std::size_t i = 8; i-- > 0; value >>= 8) bytes[i] = static_cast<std::uint8_t>(value);
}

// e * x^count, with 1 <= count <= longest_shift. The field's polynomial makes x^128 into
// 1 + x + x^2 + x^7.
Element shift(const Element& e, unsigned count) noexcept {
  const std::uint64_t out = e.second << (bits_of_half - count);
  return {e.first >> count ^ out ^ out >> 1 ^ out >> 2 ^ out >> 7,
          e.second >> count | e.first << (bits_of_half - count)};
}

Element shift_far(Element e, unsigned count) noexcept {
  while (count != 0) {
    const unsigned now = std::min(count, longest_shift);
    e = shift(e, now);
    count -= now;
  }
  return e;
}

constexpr std::uint64_t padded(std::uint64_t size) noexcept {
  return (size + 15) & ~std::uint64_t{15};
}

}  // namespace

GcmBlock gcm_length_correction(const GcmBlock& hash_key, std::uint64_t aad_size,
                               std::uint64_t text_size) noexcept {
  // GHASH counted everything as AAD and nothing as text.
  const Element lengths{8 * (padded(aad_size) + padded(text_size)) ^ 8 * aad_size, 8 * text_size};
  const Element h{load(hash_key.data()), load(hash_key.data() + 8)};

  // Horner's rule from the highest power down. The branches follow the lengths, which are no
  // secret; H is only shifted and added.
  Element product;
  unsigned reached = 0;  // the power that `product` still has to be multiplied with
  const auto add_powers = [&](std::uint64_t half, unsigned lowest_power) {
    for (; half != 0; half &= half - 1) {
      const unsigned power =
          lowest_power + bits_of_half - 1 - static_cast<unsigned>(std::countr_zero(half));
      if (reached != 0) product = shift_far(product, reached - power);
      product = {product.first ^ h.first, product.second ^ h.second};
      reached = power;
    }
  };
  add_powers(lengths.second, bits_of_half);
  add_powers(lengths.first, 0);
  product = shift_far(product, reached);

  GcmBlock result;
  store(result.data(), product.first);
  store(result.data() + 8, product.second);
  return result;
}

}  // namespace kaccel
