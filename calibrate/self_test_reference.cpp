#include "calibrate/self_test_reference.hpp"

#include <algorithm>

#include "provider/algorithms.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Chaining;

constexpr std::size_t starts = 8;  // blocks at which parts begin
constexpr std::size_t longest_of_second = 16384;

}  // namespace

CipherReference::CipherReference(const OpensslContext& software, const Algorithm& algorithm,
                                 std::span<const std::uint8_t> key, std::size_t longest,
                                 RandomBytes& random)
    : info_(kernel::info(algorithm.kernel_algorithm)), longest_(longest) {
  const bool is_xts = info_.chaining == Chaining::xts;
  const std::size_t length = is_xts ? longest : longest + (starts - 1) * info_.block_size;
  messages_.reserve(2);
  add_message(software, algorithm, key, length, random);
  if (is_xts) {
    add_message(software, algorithm, key, std::min(length, longest_of_second), random);
  }
}

void CipherReference::add_message(const OpensslContext& software, const Algorithm& algorithm,
                                  std::span<const std::uint8_t> key, std::size_t length,
                                  RandomBytes& random) {
  auto& message = messages_.emplace_back(
      Message{random.bytes(info_.iv_size), random.bytes(length), Bytes(length + info_.block_size)});
  CipherStream stream(software, algorithm.name, kernel::Direction::encrypt, key, message.iv);
  message.ciphertext.resize(
      stream.update(message.plaintext.data(), length, message.ciphertext.data()));
}

CipherReference::Part CipherReference::part(std::size_t length) {
  const std::size_t number = parts_++;
  const auto& turn = messages_[number % messages_.size()];
  const auto& message = length <= turn.plaintext.size() ? turn : messages_[0];
  const std::size_t offset =
      messages_.size() > 1 ? 0 : number % starts * std::size_t{info_.block_size};
  return {iv_at(message, offset), std::span(message.plaintext).subspan(offset, length),
          std::span(message.ciphertext).subspan(offset, length)};
}

CipherReference::Bytes CipherReference::iv_at(const Message& message, std::size_t offset) const {
  auto iv = message.iv;
  if (offset == 0) return iv;
  if (info_.chaining == Chaining::ctr) {
    add_to_counter(iv, offset / info_.block_size);
  } else if (info_.chaining == Chaining::cbc) {
    const auto before = std::span(message.ciphertext).subspan(offset - iv.size(), iv.size());
    iv.assign(before.begin(), before.end());
  }
  return iv;
}

void add_to_counter(std::vector<std::uint8_t>& counter, std::uint64_t blocks) {
  for (std::size_t i = counter.size(); i-- > 0 && blocks != 0;) {
    blocks += counter[i];
    counter[i] = static_cast<std::uint8_t>(blocks);
    blocks >>= 8;
  }
}

}  // namespace kaccel::calibrate
