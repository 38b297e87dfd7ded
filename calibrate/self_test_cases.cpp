#include "calibrate/self_test_cases.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <utility>

#include "provider/hmac_context.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Chaining;

// Each is tried with a block less and a block more.
constexpr std::array<std::size_t, 13> borders{64,   128,  256,   512,   1024,  1424,  2048,
                                              4096, 8192, 16384, 32768, 65536, 131072};

bool is_des(const Algorithm& algorithm) {
  return algorithm.kind == Kind::blocks && kernel::info(algorithm.kernel_algorithm).block_size == 8;
}

void make_fit(std::vector<std::size_t>& lengths, const kernel::Restrictions& restrictions) {
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  std::erase_if(lengths, [&](std::size_t length) {
    return !kernel::permits_size(restrictions, length) || length > restrictions.max_size;
  });
}

std::vector<std::size_t> cipher_lengths(const Algorithm& algorithm) {
  // OpenSSL's 3DES, the reference, is some five times slower than its AES.
  const std::size_t longest = is_des(algorithm) ? 32768 : 131072;
  const std::size_t longest_with_neighbours = is_des(algorithm) ? 4096 : 65536;
  const std::size_t block = kernel::info(algorithm.kernel_algorithm).block_size;
  std::vector<std::size_t> lengths{block, 2 * block, 3 * block};
  for (const std::size_t border : borders) {
    if (border > longest) break;
    const std::size_t whole = border / block * block;
    lengths.push_back(whole);
    if (border > longest_with_neighbours) continue;
    lengths.insert(lengths.end(), {whole - block, whole + block});
  }
  return lengths;
}

// Hashes err at their own blocks, at the padding that ends them (a length field of 8 bytes, 16 with
// blocks of 128), and where memory changes pages.
std::vector<std::size_t> message_lengths(const Algorithm& algorithm,
                                         const kernel::Restrictions& restrictions) {
  const std::size_t block = kernel::info(algorithm.kernel_algorithm).hash_block_size;
  const std::size_t padding = 1 + block / 8;
  std::vector<std::size_t> lengths{1, 2, 16};
  for (const std::size_t border : {block - padding, block, 2 * block, 3 * block, std::size_t{1424},
                                   std::size_t{4096}, std::size_t{8192}, std::size_t{16384}}) {
    lengths.insert(lengths.end(), {border - 1, border, border + 1});
  }
  lengths.insert(lengths.end(), {65536, 65537});
  // The kernel hands a message on in pieces of at most 64 KiB: of three there is nothing more
  // to learn.
  constexpr std::size_t longest = 131073;
  static_assert(longest <= HmacContext::longest_message);
  lengths.push_back(std::min(longest, restrictions.max_size));
  return lengths;
}

// The first good length that is at least `wanted`, or the largest.
std::size_t pick(const std::vector<std::size_t>& good_lengths, std::size_t wanted) {
  const auto found = std::lower_bound(good_lengths.begin(), good_lengths.end(), wanted);
  return found != good_lengths.end() ? *found : good_lengths.back();
}

void add(CaseKind kind, std::initializer_list<std::size_t> wanted,
         const std::vector<std::size_t>& good_lengths, std::vector<Case>& cases) {
  std::size_t last = 0;
  for (const std::size_t length : wanted) {
    const std::size_t good = pick(good_lengths, length);
    if (good != last) cases.push_back({.kind = kind, .length = good});
    last = good;
  }
}

enum class Effort : std::uint8_t { full, reduced };

void add_provider_cases(const Algorithm& algorithm, const std::vector<std::size_t>& good_lengths,
                        Effort effort, std::vector<Case>& cases) {
  const bool short_ones = effort == Effort::reduced || is_des(algorithm);
  const std::size_t longest = short_ones ? 8192 : is_mac(algorithm) ? 16384 : 65536;
  add(CaseKind::through_provider, {1024, longest}, good_lengths, cases);
}

}  // namespace

std::vector<std::size_t> test_lengths(const Algorithm& algorithm,
                                      const kernel::Restrictions& restrictions) {
  auto lengths =
      is_mac(algorithm) ? message_lengths(algorithm, restrictions) : cipher_lengths(algorithm);
  make_fit(lengths, restrictions);
  return lengths;
}

std::vector<std::size_t> stealing_lengths(const kernel::Restrictions& restrictions) {
  std::vector<std::size_t> lengths{17, 24, 31, 33, 47};
  for (const std::size_t border : borders) {
    lengths.insert(lengths.end(), {border - 1, border + 1});
  }
  make_fit(lengths, restrictions);
  return lengths;
}

LengthCases length_cases(const std::vector<std::size_t>& lengths) {
  const auto is_round = [](const Case& test) {
    return std::has_single_bit(test.length) || test.length % 65536 == 0;
  };
  std::vector<Case> cases;
  for (const std::size_t length : lengths)
    cases.push_back({.kind = CaseKind::length, .length = length});
  const auto neighbours = std::stable_partition(cases.begin(), cases.end(), is_round);
  const auto round = static_cast<std::size_t>(neighbours - cases.begin());
  return {std::move(cases), round};
}

std::vector<Case> further_cases(const Algorithm& algorithm,
                                const std::vector<std::size_t>& good_lengths) {
  const auto chaining = kernel::info(algorithm.kernel_algorithm).chaining;
  std::vector<Case> cases;
  if (chaining == Chaining::cbc || chaining == Chaining::ctr) {
    add(CaseKind::chained, {16, 512, 4096}, good_lengths, cases);
  }
  if (chaining == Chaining::xts) add(CaseKind::many_tweaks, {64, 512, 4096}, good_lengths, cases);
  add(CaseKind::many_keys, {64, 1024}, good_lengths, cases);
  if (!is_mac(algorithm)) add(CaseKind::both_directions, {64, 1024}, good_lengths, cases);
  add(CaseKind::misaligned, {48, 512, 4096}, good_lengths, cases);
  if (chaining == Chaining::ctr) add(CaseKind::counter_carry, {64, 4096}, good_lengths, cases);
  add(CaseKind::repeated, {64, 4096}, good_lengths, cases);
  add_provider_cases(algorithm, good_lengths, Effort::full, cases);
  return cases;
}

std::vector<Case> repeat_cases(const Algorithm& algorithm,
                               const std::vector<std::size_t>& good_lengths) {
  std::vector<Case> cases;
  if (algorithm.kind != Kind::gcm) add(CaseKind::length, {16, 512, 4096}, good_lengths, cases);
  add_provider_cases(algorithm, good_lengths, Effort::reduced, cases);
  return cases;
}

std::vector<Case> other_key_size_cases(const Algorithm& algorithm,
                                       const std::vector<std::size_t>& good_lengths) {
  std::vector<Case> cases;
  add(CaseKind::length, {16, 48, 64, 512, 1424, 4096, 16384, 65536}, good_lengths, cases);
  add(CaseKind::many_keys, {64}, good_lengths, cases);
  add(CaseKind::both_directions, {64}, good_lengths, cases);
  add_provider_cases(algorithm, good_lengths, Effort::reduced, cases);
  return cases;
}

std::vector<Case> probe_cases(const Algorithm& algorithm,
                              const std::vector<std::size_t>& good_lengths) {
  constexpr auto probe = CasePurpose::probe;
  if (is_mac(algorithm)) return {{CaseKind::empty_message, 0, probe}};
  std::vector<Case> cases{{CaseKind::turned_session, pick(good_lengths, 64), probe}};
  const auto& info = kernel::info(algorithm.kernel_algorithm);
  if (info.chaining == Chaining::ctr) {
    cases.push_back({CaseKind::partial_block, pick(good_lengths, 64) - 3, probe});
  }
  return cases;
}

std::vector<Case> stealing_cases(const std::vector<std::size_t>& lengths) {
  auto cases = length_cases(lengths).cases;
  add(CaseKind::many_tweaks, {33}, lengths, cases);
  add(CaseKind::misaligned, {33, 511, 4097}, lengths, cases);
  add(CaseKind::repeated, {511}, lengths, cases);
  add(CaseKind::through_provider, {1025}, lengths, cases);
  for (auto& test : cases) test.purpose = CasePurpose::stealing;
  return cases;
}

}  // namespace kaccel::calibrate
