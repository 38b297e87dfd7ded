#include "calibrate/self_test_cipher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/placed_buffer.hpp"
#include "calibrate/self_test_fault.hpp"
#include "calibrate/self_test_provider.hpp"
#include "calibrate/served_algorithms.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Chaining;
using kernel::Direction;

void add_to_counter(std::vector<std::uint8_t>& counter, std::uint64_t blocks) {
  for (std::size_t i = counter.size(); i-- > 0 && blocks != 0;) {
    blocks += counter[i];
    counter[i] = static_cast<std::uint8_t>(blocks);
    blocks >>= 8;
  }
}

}  // namespace

CipherCaseRunner::CipherCaseRunner(const TestSubject& subject, kernel::Transport& transport)
    : subject_(subject),
      bare_(driver_side(subject.algorithm)),
      info_(kernel::info(subject.algorithm.kernel_algorithm)),
      transport_(transport),
      software_(OpensslContext::with_software_of(subject.algorithm)),
      random_(subject.algorithm.key_size) {}

CaseRunner::Report CipherCaseRunner::run(const Case& test) {
  try {
    if (!lasting_.encrypt) lasting_ = open_pair();
    const std::size_t most =
        std::min(lasting_.encrypt->max_request(), lasting_.decrypt->max_request());
    if (test.kind != CaseKind::through_provider && test.length > most) {
      return {Outcome::skipped, {}};
    }
    run_case(test);
    return {Outcome::right, {}};
  } catch (const Fault& fault) {
    lasting_ = {};  // a session that failed is of no more use
    return {Outcome::wrong, fault.what()};
  }
}

void CipherCaseRunner::run_case(const Case& test) {
  switch (test.kind) {
    case CaseKind::length:
      return check_both(lasting_, test.length, {});
    case CaseKind::chained:
      return test_chained(test.length);
    case CaseKind::many_tweaks:
      return test_many_tweaks(test.length);
    case CaseKind::many_keys:
      return test_many_keys(test.length);
    case CaseKind::both_directions:
      return test_both_directions(test.length);
    case CaseKind::misaligned:
      return test_misaligned(test.length);
    case CaseKind::counter_carry:
      return test_counter_carry(test.length);
    case CaseKind::repeated:
      return test_repeated(test.length);
    case CaseKind::through_provider:
      return test_through_provider(subject_, transport_, software_, random_, test.length);
  }
}

std::unique_ptr<kernel::Session> CipherCaseRunner::open(const Bytes& key) {
  std::unique_ptr<kernel::Session> session;
  auto status = transport_.open(subject_.driver.c_str(), info_.id, session);
  if (!status) throw UnusableDriver("does not bind: " + reason(status));
  status = session->set_key(driver_key(key));
  if (!status) throw UnusableDriver(refusal_of_key(status));
  return session;
}

std::string CipherCaseRunner::refusal_of_key(const kernel::Status& status) const {
  const std::size_t bits = driver_key_size(bare_) * 8;
  if (is_two_key_des(bare_)) {
    return fmt::format("takes no key of {} bits whose first part comes again: {}", bits,
                       reason(status));
  }
  return fmt::format("takes no key of {} bits: {}", bits, reason(status));
}

CipherCaseRunner::Pair CipherCaseRunner::open_pair() {
  Pair pair;
  pair.key = random_.bytes(bare_.key_size);
  pair.encrypt = open(pair.key);
  pair.decrypt = open(pair.key);
  return pair;
}

CipherCaseRunner::Bytes CipherCaseRunner::driver_key(const Bytes& key) const {
  Bytes result = key;
  if (is_two_key_des(bare_)) {  // K1 K2 K1
    result.resize(driver_key_size(bare_));
    std::copy_n(key.begin(), result.size() - key.size(),
                result.begin() + static_cast<std::ptrdiff_t>(key.size()));
  }
  return result;
}

kernel::Session& CipherCaseRunner::side(Pair& pair, Direction direction) {
  return direction == Direction::encrypt ? *pair.encrypt : *pair.decrypt;
}

CipherCaseRunner::Bytes CipherCaseRunner::reference(Direction direction, const Bytes& key,
                                                    const Bytes& iv, const Bytes& input) {
  CipherStream stream(software_, bare_.name, direction, key, iv);
  Bytes output(input.size() + info_.block_size);
  output.resize(stream.update(input.data(), input.size(), output.data()));
  return output;
}

void CipherCaseRunner::check(kernel::Session& session, const Trial& trial, Placement placement) {
  const auto fault = [&](const std::string& what) {
    return Fault(fmt::format("{} of {} bytes {}", noun(trial.direction), trial.input.size(), what));
  };
  PlacedBuffer source(trial.input.size(), placement.input);
  PlacedBuffer target(trial.input.size(), placement.output);
  std::copy(trial.input.begin(), trial.input.end(), source.data());
  const auto status = session.crypt({trial.direction, trial.iv, source.bytes(), target.data()});
  if (!status) throw fault("fails: " + reason(status));
  if (!target.holds(trial.expected)) throw fault("is wrong");
  if (!target.guards_are_whole()) throw fault("writes outside its output");
  if (!source.holds(trial.input)) throw fault("changes its input");
}

// Only encryption needs OpenSSL for a reference, which is slower than any device at 3DES.
void CipherCaseRunner::check_both(Pair& pair, const Bytes& iv, std::size_t length,
                                  Placement placement) {
  const auto plaintext = random_.bytes(length);
  const auto ciphertext = reference(Direction::encrypt, pair.key, iv, plaintext);
  check(*pair.encrypt, {Direction::encrypt, iv, plaintext, ciphertext}, placement);
  check(*pair.decrypt, {Direction::decrypt, iv, ciphertext, plaintext}, placement);
}

void CipherCaseRunner::check_both(Pair& pair, std::size_t length, Placement placement) {
  check_both(pair, random_.bytes(info_.iv_size), length, placement);
}

// The next IV is computed as the provider does, since AF_ALG does not return it.
void CipherCaseRunner::test_chained(std::size_t length) {
  for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
    const auto iv = random_.bytes(info_.iv_size);
    Bytes whole_input;
    Bytes whole_output;
    auto next_iv = iv;
    for (int request = 0; request < 3; ++request) {
      const auto input = random_.bytes(length);
      const auto output = reference(direction, lasting_.key, next_iv, input);
      check(side(lasting_, direction), {direction, next_iv, input, output}, {});
      if (info_.chaining == Chaining::ctr) {
        add_to_counter(next_iv, length / info_.block_size);
      } else {
        const auto& ciphertext = direction == Direction::encrypt ? output : input;
        next_iv.assign(ciphertext.end() - info_.iv_size, ciphertext.end());
      }
      whole_input.insert(whole_input.end(), input.begin(), input.end());
      whole_output.insert(whole_output.end(), output.begin(), output.end());
    }
    if (whole_output != reference(direction, lasting_.key, iv, whole_input)) {
      throw Fault(
          fmt::format("{} in three requests of {} bytes is wrong", noun(direction), length));
    }
  }
}

// Tweaks as disks have them, little-endian sector numbers, and the extremes.
void CipherCaseRunner::test_many_tweaks(std::size_t length) {
  std::vector<Bytes> tweaks;
  tweaks.emplace_back(info_.iv_size, std::uint8_t{0});
  tweaks.emplace_back(info_.iv_size, std::uint8_t{0xff});
  for (std::uint8_t sector = 1; sector < 6; ++sector) {
    tweaks.emplace_back(info_.iv_size, std::uint8_t{0}).front() = sector;
  }
  tweaks.emplace_back(info_.iv_size, std::uint8_t{0}).back() = 0x80;
  for (const auto& tweak : tweaks) check_both(lasting_, tweak, length, {});
}

void CipherCaseRunner::test_many_keys(std::size_t length) {
  std::array<Pair, 4> pairs;
  for (auto& pair : pairs) pair = open_pair();
  for (int round = 0; round < 3; ++round) {
    for (auto& pair : pairs) check_both(pair, length, {});
  }
  auto& rekeyed = pairs[0];
  for (int round = 0; round < 4; ++round) {
    rekeyed.key = random_.bytes(bare_.key_size);
    for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
      const auto status = side(rekeyed, direction).set_key(driver_key(rekeyed.key));
      if (!status) throw Fault("a second key fails: " + reason(status));
    }
    check_both(rekeyed, length, {});
    check_both(pairs[1], length, {});
  }
}

void CipherCaseRunner::test_both_directions(std::size_t length) {
  for (int round = 0; round < 8; ++round) check_both(lasting_, length, {});
}

void CipherCaseRunner::test_misaligned(std::size_t length) {
  constexpr std::size_t page = PlacedBuffer::page;
  constexpr std::array<Placement, 8> placements{{{1, 0},
                                                 {0, 1},
                                                 {3, 5},
                                                 {8, 4},
                                                 {15, 2},
                                                 {page - 1, page - 3},
                                                 {page - 16, 7},
                                                 {page - 9, page - 32}}};
  for (const auto& placement : placements) check_both(lasting_, length, placement);
}

void CipherCaseRunner::test_counter_carry(std::size_t length) {
  for (const std::size_t full_bytes : std::array<std::size_t, 4>{4, 8, 12, 16}) {
    for (const std::uint8_t last_byte : std::array<std::uint8_t, 2>{0xff, 0xfe}) {
      auto iv = random_.bytes(info_.iv_size);
      const auto carry = static_cast<std::ptrdiff_t>(std::min(full_bytes, iv.size()));
      std::fill(iv.end() - carry, iv.end(), std::uint8_t{0xff});
      iv.back() = last_byte;
      try {
        check_both(lasting_, iv, length, {});
      } catch (const Fault& fault) {
        throw Fault(fmt::format("{} where the counter carries out of {} bits", fault.what(),
                                full_bytes * 8));
      }
    }
  }
}

void CipherCaseRunner::test_repeated(std::size_t length) {
  const auto iv = random_.bytes(info_.iv_size);
  const auto plaintext = random_.bytes(length);
  const auto ciphertext = reference(Direction::encrypt, lasting_.key, iv, plaintext);
  for (int round = 0; round < 64; ++round) {
    check(*lasting_.encrypt, {Direction::encrypt, iv, plaintext, ciphertext}, {});
    check(*lasting_.decrypt, {Direction::decrypt, iv, ciphertext, plaintext}, {});
  }
}

}  // namespace kaccel::calibrate
