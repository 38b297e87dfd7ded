#include "calibrate/self_test_cipher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "calibrate/placed_buffer.hpp"
#include "calibrate/self_test_cases.hpp"
#include "calibrate/self_test_fault.hpp"
#include "calibrate/served_algorithms.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Chaining;
using kernel::Direction;

// Requests of a case that asks for the same again and again, by length: long ones take their time.
constexpr int repetitions(std::size_t length) {
  return length <= 256 ? 32 : 6;
}

}  // namespace

CipherCaseRunner::CipherCaseRunner(const TestSubject& subject, kernel::Transport& transport,
                                   const OpensslContext& software, std::chrono::milliseconds slow)
    : subject_(subject),
      bare_(driver_side(subject.algorithm)),
      info_(kernel::info(subject.algorithm.kernel_algorithm)),
      transport_(transport),
      software_(software),
      random_(subject.algorithm.key_size),
      patience_(slow),
      through_provider_(subject, transport, software),
      lasting_key_(random_.bytes(bare_.key_size)) {}

CaseRunner::Report CipherCaseRunner::run(const Case& test) {
  try {
    if (!lasting_.encrypt) lasting_ = open_pair(lasting_key_);
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
      return check_both(test.length, {});
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
      return through_provider_.run(random_, test.length);
    case CaseKind::partial_block:
      return check_both(lasting_, message(lasting_.key, test.length));
    case CaseKind::turned_session:
      return test_turned_session(test.length);
    case CaseKind::empty_message:
      break;  // HMAC's
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

CipherCaseRunner::Pair CipherCaseRunner::open_pair(Bytes key) {
  Pair pair;
  pair.key = std::move(key);
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

CipherCaseRunner::Message CipherCaseRunner::message(const Bytes& key, Bytes iv,
                                                    std::size_t length) {
  Message result{std::move(iv), random_.bytes(length), Bytes(length + info_.block_size)};
  CipherStream stream(software_, bare_.name, Direction::encrypt, key, result.iv);
  result.ciphertext.resize(
      stream.update(result.plaintext.data(), length, result.ciphertext.data()));
  return result;
}

CipherCaseRunner::Message CipherCaseRunner::message(const Bytes& key, std::size_t length) {
  return message(key, random_.bytes(info_.iv_size), length);
}

CipherReference& CipherCaseRunner::reference() {
  if (!reference_) {
    const auto lengths = test_lengths(subject_.algorithm, subject_.known);
    reference_.emplace(software_, bare_, lasting_key_, lengths.back(), random_);
  }
  return *reference_;
}

void CipherCaseRunner::check(kernel::Session& session, const Trial& trial, Placement placement) {
  const auto fault = [&](const std::string& what) {
    return Fault(fmt::format("{} of {} bytes {}", noun(trial.direction), trial.input.size(), what));
  };
  PlacedBuffer source(trial.input.size(), placement.input);
  PlacedBuffer target(trial.input.size(), placement.output);
  std::copy(trial.input.begin(), trial.input.end(), source.data());
  const auto start = Patience::Clock::now();
  const auto status = session.crypt({trial.direction, trial.iv, source.bytes(), target.data()});
  patience_.note(trial.input.size(), start);
  if (!status) throw fault("fails: " + reason(status));
  if (!target.holds(trial.expected)) throw fault("is wrong");
  if (!target.guards_are_whole()) throw fault("writes outside its output");
  if (!source.holds(trial.input)) throw fault("changes its input");
}

void CipherCaseRunner::check_both(Pair& pair, View iv, View plaintext, View ciphertext,
                                  Placement placement) {
  check(*pair.encrypt, {Direction::encrypt, iv, plaintext, ciphertext}, placement);
  check(*pair.decrypt, {Direction::decrypt, iv, ciphertext, plaintext}, placement);
}

void CipherCaseRunner::check_both(Pair& pair, const Message& message) {
  check_both(pair, message.iv, message.plaintext, message.ciphertext, {});
}

void CipherCaseRunner::check_both(std::size_t length, Placement placement) {
  if (length % info_.block_size == 0) {
    const auto part = reference().part(length);
    check_both(lasting_, part.iv, part.plaintext, part.ciphertext, placement);
  } else {  // ciphertext stealing: its end is not that of a longer message
    const auto unit = message(lasting_.key, length);
    check_both(lasting_, unit.iv, unit.plaintext, unit.ciphertext, placement);
  }
}

// The next IV is computed as the provider does, since AF_ALG does not return it.
void CipherCaseRunner::test_chained(std::size_t length) {
  std::optional<CipherReference> own;
  if (3 * length > reference().longest()) {
    own.emplace(software_, bare_, lasting_.key, 3 * length, random_);
  }
  const auto whole = (own ? *own : reference()).part(3 * length);
  for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
    const bool encrypts = direction == Direction::encrypt;
    const auto input = encrypts ? whole.plaintext : whole.ciphertext;
    const auto output = encrypts ? whole.ciphertext : whole.plaintext;
    auto iv = whole.iv;
    for (std::size_t start = 0; start < whole.plaintext.size(); start += length) {
      check(side(lasting_, direction),
            {direction, iv, input.subspan(start, length), output.subspan(start, length)}, {});
      if (info_.chaining == Chaining::ctr) {
        add_to_counter(iv, length / info_.block_size);
      } else {
        const auto end = whole.ciphertext.begin() + static_cast<std::ptrdiff_t>(start + length);
        iv.assign(end - info_.iv_size, end);
      }
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
  for (const auto& tweak : tweaks) check_both(lasting_, message(lasting_.key, tweak, length));
}

void CipherCaseRunner::test_many_keys(std::size_t length) {
  std::array<Pair, 4> pairs;
  std::array<Message, 4> messages;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = open_pair(random_.bytes(bare_.key_size));
    messages[i] = message(pairs[i].key, length);
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < pairs.size(); ++i) check_both(pairs[i], messages[i]);
  }
  auto& rekeyed = pairs[0];
  for (int round = 0; round < 4; ++round) {
    rekeyed.key = random_.bytes(bare_.key_size);
    for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
      const auto status = side(rekeyed, direction).set_key(driver_key(rekeyed.key));
      if (!status) throw Fault("a second key fails: " + reason(status));
    }
    check_both(rekeyed, message(rekeyed.key, length));
    check_both(pairs[1], messages[1]);
  }
}

void CipherCaseRunner::test_both_directions(std::size_t length) {
  for (int round = 0; round < 8; ++round) check_both(length, {});
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
  for (const auto& placement : placements) check_both(length, placement);
}

void CipherCaseRunner::test_counter_carry(std::size_t length) {
  for (const std::size_t full_bytes : std::array<std::size_t, 4>{4, 8, 12, 16}) {
    for (const std::uint8_t last_byte : std::array<std::uint8_t, 2>{0xff, 0xfe}) {
      auto iv = random_.bytes(info_.iv_size);
      const auto carry = static_cast<std::ptrdiff_t>(std::min(full_bytes, iv.size()));
      std::fill(iv.end() - carry, iv.end(), std::uint8_t{0xff});
      iv.back() = last_byte;
      try {
        check_both(lasting_, message(lasting_.key, iv, length));
      } catch (const Fault& fault) {
        throw Fault(fmt::format("{} where the counter carries out of {} bits", fault.what(),
                                full_bytes * 8));
      }
    }
  }
}

void CipherCaseRunner::test_repeated(std::size_t length) {
  const auto same = message(lasting_.key, length);
  for (int round = 0; round < repetitions(length); ++round) check_both(lasting_, same);
}

void CipherCaseRunner::test_turned_session(std::size_t length) {
  const auto session = open(lasting_.key);
  const auto text = message(lasting_.key, length);
  check(*session, {Direction::decrypt, text.iv, text.ciphertext, text.plaintext}, {});
  check(*session, {Direction::encrypt, text.iv, text.plaintext, text.ciphertext}, {});
}

}  // namespace kaccel::calibrate
