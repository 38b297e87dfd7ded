#include "calibrate/self_test_mac.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/mac_stream.hpp"
#include "calibrate/placed_buffer.hpp"
#include "calibrate/self_test_fault.hpp"

namespace kaccel::calibrate {

MacCaseRunner::MacCaseRunner(const TestSubject& subject, kernel::Transport& transport,
                             const OpensslContext& software, std::chrono::milliseconds slow)
    : subject_(subject),
      info_(kernel::info(subject.algorithm.kernel_algorithm)),
      transport_(transport),
      software_(software),
      random_(info_.digest_size),
      patience_(slow),
      through_provider_(subject, transport, software) {}

CaseRunner::Report MacCaseRunner::run(const Case& test) {
  try {
    if (!lasting_.session) lasting_ = open(info_.hash_block_size);
    run_case(test);
    return {Outcome::right, {}};
  } catch (const Fault& fault) {
    lasting_ = {};  // a session that failed is of no more use
    return {Outcome::wrong, fault.what()};
  }
}

void MacCaseRunner::run_case(const Case& test) {
  switch (test.kind) {
    case CaseKind::many_keys:
      return test_many_keys(test.length);
    case CaseKind::misaligned:
      return test_misaligned(test.length);
    case CaseKind::repeated:
      return test_repeated(test.length);
    case CaseKind::through_provider:
      return through_provider_.run(random_, test.length);
    default:
      return check(lasting_, test.length, {});
  }
}

MacCaseRunner::KeyedSession MacCaseRunner::open(std::size_t key_size) {
  KeyedSession keyed{nullptr, random_.bytes(key_size)};
  auto status = transport_.open(subject_.driver.c_str(), info_.id, keyed.session);
  if (!status) throw UnusableDriver("does not bind: " + reason(status));
  status = keyed.session->set_key(keyed.key);
  if (!status) {
    throw UnusableDriver(fmt::format("takes no key of {} bytes: {}", key_size, reason(status)));
  }
  return keyed;
}

MacCaseRunner::Bytes MacCaseRunner::reference(const Bytes& key, const Bytes& message) {
  return MacStream(software_, subject_.algorithm, key).mac_of(message);
}

void MacCaseRunner::check(KeyedSession& keyed, std::size_t length, Placement placement) {
  const auto message = random_.bytes(length);
  check_message(keyed, message, reference(keyed.key, message), placement);
}

void MacCaseRunner::check_message(KeyedSession& keyed, const Bytes& message, const Bytes& expected,
                                  Placement placement) {
  const auto fault = [&](const std::string& what) {
    return Fault(fmt::format("the MAC of {} bytes with a key of {} bytes {}", message.size(),
                             keyed.key.size(), what));
  };
  PlacedBuffer source(message.size(), placement.message);
  PlacedBuffer result(info_.digest_size, placement.result);
  std::copy(message.begin(), message.end(), source.data());
  const auto start = Patience::Clock::now();
  const auto status = keyed.session->mac(source.bytes(), result.bytes());
  patience_.note(message.size(), start);
  if (!status) throw fault("fails: " + reason(status));
  if (!result.holds(expected)) throw fault("is wrong");
  if (!result.guards_are_whole()) throw fault("writes outside its result");
  if (!source.holds(message)) throw fault("changes the message");
}

// The provider hashes keys longer than a block, so a driver sees 1 byte to a block.
void MacCaseRunner::test_many_keys(std::size_t length) {
  const std::size_t block = info_.hash_block_size;
  const std::array<std::size_t, 4> key_sizes{1, block - 1, block, info_.digest_size};
  std::vector<KeyedSession> sessions;
  for (const std::size_t key_size : key_sizes) sessions.push_back(open(key_size));
  for (int round = 0; round < 3; ++round) {
    for (auto& keyed : sessions) check(keyed, length, {});
  }
  auto& rekeyed = sessions[0];
  for (const std::size_t key_size : key_sizes) {
    rekeyed.key = random_.bytes(key_size);
    const auto status = rekeyed.session->set_key(rekeyed.key);
    if (!status) throw Fault("a second key fails: " + reason(status));
    check(rekeyed, length, {});
    check(sessions[1], length, {});
  }
}

void MacCaseRunner::test_misaligned(std::size_t length) {
  constexpr std::size_t page = PlacedBuffer::page;
  constexpr std::array<Placement, 6> placements{
      {{1, 0}, {3, 5}, {8, 4}, {15, 1}, {page - 1, page - 3}, {page - 9, 7}}};
  const auto message = random_.bytes(length);
  const auto expected = reference(lasting_.key, message);
  for (const auto& placement : placements) check_message(lasting_, message, expected, placement);
}

// Two messages in turn: nothing of one may be left when the other comes.
void MacCaseRunner::test_repeated(std::size_t length) {
  const std::array<Bytes, 2> messages{random_.bytes(length), random_.bytes(length)};
  const std::array<Bytes, 2> expected{reference(lasting_.key, messages[0]),
                                      reference(lasting_.key, messages[1])};
  const std::size_t rounds = length <= 256 ? 32 : 6;
  for (std::size_t round = 0; round < rounds; ++round) {
    check_message(lasting_, messages[round % 2], expected[round % 2], {});
  }
}

}  // namespace kaccel::calibrate
