#include "calibrate/self_test_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace kaccel::calibrate {
namespace {

using kernel::Chaining;
using kernel::Direction;

constexpr std::size_t page = 4096;
constexpr std::size_t guard = 64;  // bytes before and after an output that must stay as they are
constexpr std::uint8_t guard_byte = 0xa5;

// A wrong answer, in one phrase.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const char* noun(Direction direction) {
  return direction == Direction::encrypt ? "encryption" : "decryption";
}

std::string reason(const kernel::Status& status) {
  std::string text = kernel::describe(status.failure);
  if (status.error_number != 0) text += fmt::format(" ({})", std::strerror(status.error_number));
  return text;
}

// Memory at a chosen distance from a page border, with guards around it.
class PlacedBuffer {
 public:
  PlacedBuffer(std::size_t size, std::size_t past_page_border)
      : memory_(size + past_page_border + 2 * page + guard, guard_byte), size_(size) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + guard;
    offset_ = guard + (page - address % page) % page + past_page_border;
  }

  std::uint8_t* data() noexcept { return memory_.data() + offset_; }
  std::span<std::uint8_t> bytes() noexcept { return {data(), size_}; }

  bool guards_are_whole() const {
    const auto untouched = [](std::uint8_t byte) { return byte == guard_byte; };
    const auto start = memory_.begin() + static_cast<std::ptrdiff_t>(offset_);
    const auto end = start + static_cast<std::ptrdiff_t>(size_);
    return std::all_of(memory_.begin(), start, untouched) &&
           std::all_of(end, memory_.end(), untouched);
  }

 private:
  std::vector<std::uint8_t> memory_;
  std::size_t size_;
  std::size_t offset_ = 0;
};

void add_to_counter(std::vector<std::uint8_t>& counter, std::uint64_t blocks) {
  for (std::size_t i = counter.size(); i-- > 0 && blocks != 0;) {
    blocks += counter[i];
    counter[i] = static_cast<std::uint8_t>(blocks);
    blocks >>= 8;
  }
}

}  // namespace

CaseRunner::CaseRunner(const TestSubject& subject, kernel::Transport& transport)
    : subject_(subject),
      info_(kernel::info(subject.algorithm.kernel_algorithm)),
      transport_(transport),
      software_(OpensslContext::with_default()),
      random_(subject.algorithm.key_size) {}

CaseRunner::Report CaseRunner::run(const Case& test) {
  try {
    if (!lasting_.encrypt) lasting_ = open_pair();
    const std::size_t most =
        std::min(lasting_.encrypt->max_request(), lasting_.decrypt->max_request());
    if (test.kind != CaseKind::through_provider && test.length > most) {
      return {Outcome::skipped, {}};
    }
    switch (test.kind) {
      case CaseKind::length:
        test_length(test.length);
        break;
      case CaseKind::chained:
        test_chained(test.length);
        break;
      case CaseKind::many_keys:
        test_many_keys(test.length);
        break;
      case CaseKind::both_directions:
        test_both_directions(test.length);
        break;
      case CaseKind::misaligned:
        test_misaligned(test.length);
        break;
      case CaseKind::counter_carry:
        test_counter_carry(test.length);
        break;
      case CaseKind::repeated:
        test_repeated(test.length);
        break;
      case CaseKind::through_provider:
        test_through_provider(test.length);
        break;
    }
    return {Outcome::right, {}};
  } catch (const Fault& fault) {
    lasting_ = {};  // a session that failed is of no more use
    return {Outcome::wrong, fault.what()};
  }
}

std::unique_ptr<kernel::Session> CaseRunner::open(const Bytes& key) {
  std::unique_ptr<kernel::Session> session;
  auto status = transport_.open(subject_.driver.c_str(), info_.id, session);
  if (!status) throw UnusableDriver("does not bind: " + reason(status));
  status = session->set_key(key);
  if (!status) {
    throw UnusableDriver(
        fmt::format("takes no key of {} bits: {}", key.size() * 8, reason(status)));
  }
  return session;
}

CaseRunner::Pair CaseRunner::open_pair() {
  Pair pair;
  pair.key = random_.bytes(subject_.algorithm.key_size);
  pair.encrypt = open(pair.key);
  pair.decrypt = open(pair.key);
  return pair;
}

kernel::Session& CaseRunner::side(Pair& pair, Direction direction) {
  return direction == Direction::encrypt ? *pair.encrypt : *pair.decrypt;
}

CaseRunner::Bytes CaseRunner::reference(Direction direction, const Bytes& key, const Bytes& iv,
                                        const Bytes& input) {
  CipherStream stream(software_, subject_.algorithm.name, direction, key, iv);
  Bytes output(input.size() + info_.block_size);
  output.resize(stream.update(input.data(), input.size(), output.data()));
  return output;
}

CaseRunner::Bytes CaseRunner::check(kernel::Session& session, Direction direction, const Bytes& key,
                                    const Bytes& iv, const Bytes& input, Placement placement) {
  const auto fault = [&](const std::string& what) {
    return Fault(fmt::format("{} of {} bytes {}", noun(direction), input.size(), what));
  };
  PlacedBuffer source(input.size(), placement.input);
  PlacedBuffer target(input.size(), placement.output);
  std::copy(input.begin(), input.end(), source.data());
  const auto status = session.crypt({direction, iv, source.bytes(), target.data()});
  if (!status) throw fault("fails: " + reason(status));

  const auto same = [](std::span<const std::uint8_t> a, const Bytes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  auto right = reference(direction, key, iv, input);
  if (!same(target.bytes(), right)) throw fault("is wrong");
  if (!target.guards_are_whole()) throw fault("writes outside its output");
  if (!same(source.bytes(), input)) throw fault("changes its input");
  return right;
}

void CaseRunner::check_both(Pair& pair, std::size_t length, Placement placement) {
  const auto iv = random_.bytes(info_.iv_size);
  const auto input = random_.bytes(length);
  for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
    check(side(pair, direction), direction, pair.key, iv, input, placement);
  }
}

void CaseRunner::test_length(std::size_t length) {
  check_both(lasting_, length, {});
}

// The next IV is computed as the provider does, since AF_ALG does not return it.
void CaseRunner::test_chained(std::size_t length) {
  for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
    const auto iv = random_.bytes(info_.iv_size);
    Bytes whole_input;
    Bytes whole_output;
    auto next_iv = iv;
    for (int request = 0; request < 3; ++request) {
      const auto input = random_.bytes(length);
      const auto output =
          check(side(lasting_, direction), direction, lasting_.key, next_iv, input, {});
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

void CaseRunner::test_many_keys(std::size_t length) {
  std::array<Pair, 4> pairs;
  for (auto& pair : pairs) pair = open_pair();
  for (int round = 0; round < 3; ++round) {
    for (auto& pair : pairs) check_both(pair, length, {});
  }
  auto& rekeyed = pairs[0];
  for (int round = 0; round < 4; ++round) {
    rekeyed.key = random_.bytes(subject_.algorithm.key_size);
    for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
      const auto status = side(rekeyed, direction).set_key(rekeyed.key);
      if (!status) throw Fault("a second key fails: " + reason(status));
    }
    check_both(rekeyed, length, {});
    check_both(pairs[1], length, {});
  }
}

void CaseRunner::test_both_directions(std::size_t length) {
  for (int round = 0; round < 8; ++round) {
    const auto iv = random_.bytes(info_.iv_size);
    const auto plaintext = random_.bytes(length);
    const auto ciphertext =
        check(*lasting_.encrypt, Direction::encrypt, lasting_.key, iv, plaintext, {});
    const auto decrypted =
        check(*lasting_.decrypt, Direction::decrypt, lasting_.key, iv, ciphertext, {});
    if (decrypted != plaintext) throw Fault("decryption does not undo encryption");
  }
}

void CaseRunner::test_misaligned(std::size_t length) {
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

void CaseRunner::test_counter_carry(std::size_t length) {
  for (const std::size_t full_bytes : std::array<std::size_t, 4>{4, 8, 12, 16}) {
    for (const std::uint8_t last_byte : std::array<std::uint8_t, 2>{0xff, 0xfe}) {
      auto iv = random_.bytes(info_.iv_size);
      const auto carry = static_cast<std::ptrdiff_t>(std::min(full_bytes, iv.size()));
      std::fill(iv.end() - carry, iv.end(), std::uint8_t{0xff});
      iv.back() = last_byte;
      const auto input = random_.bytes(length);
      for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
        try {
          check(side(lasting_, direction), direction, lasting_.key, iv, input, {});
        } catch (const Fault& fault) {
          throw Fault(fmt::format("{} where the counter carries out of {} bits", fault.what(),
                                  full_bytes * 8));
        }
      }
    }
  }
}

void CaseRunner::test_repeated(std::size_t length) {
  const auto iv = random_.bytes(info_.iv_size);
  const auto input = random_.bytes(length);
  for (int round = 0; round < 64; ++round) {
    for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
      check(side(lasting_, direction), direction, lasting_.key, iv, input, {});
    }
  }
}

void CaseRunner::test_through_provider(std::size_t length) {
  Settings settings;
  settings.calibrated = true;
  settings.load_default = false;
  auto& row = settings.algorithms[find_algorithm(subject_.algorithm.name)];
  row.driver = subject_.driver;
  row.encrypt = always_hardware;
  row.decrypt = always_hardware;
  row.restrictions = subject_.known;
  const auto accelerated = OpensslContext::with_kaccel(settings, transport_);
  for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
    stream_through_provider(accelerated, direction, {length, false});
    stream_through_provider(accelerated, direction, {length, true});
  }
  const auto counters = accelerated.counters();
  if (counters.fallbacks > 0) throw Fault("a request through kaccel's provider fails");
  if (counters.requests == 0) throw Fault("kaccel's provider does not use the driver");
}

// A stream of chunks of random length at random addresses, against the default provider. In place
// they are whole blocks, so that nothing is held back and output never overtakes input.
void CaseRunner::stream_through_provider(const OpensslContext& accelerated, Direction direction,
                                         const StreamShape& shape) {
  const auto key = random_.bytes(subject_.algorithm.key_size);
  const auto iv = random_.bytes(info_.iv_size);
  const char* name = subject_.algorithm.name;
  CipherStream tested(accelerated, name, direction, key, iv);
  CipherStream right(software_, name, direction, key, iv);
  for (int chunk = 0; chunk < 24; ++chunk) {
    std::size_t size = 1 + random_.number() % shape.largest_chunk;
    if (shape.in_place) size = (size + info_.block_size - 1) / info_.block_size * info_.block_size;
    const auto input = random_.bytes(size);
    Bytes expected(size + info_.block_size);
    expected.resize(right.update(input.data(), size, expected.data()));

    PlacedBuffer buffer(size + info_.block_size, random_.number() % 32);
    if (shape.in_place) std::copy(input.begin(), input.end(), buffer.data());
    const auto* source = shape.in_place ? buffer.data() : input.data();
    const std::size_t written = tested.update(source, size, buffer.data());
    if (written != expected.size() ||
        !std::equal(expected.begin(), expected.end(), buffer.data())) {
      throw Fault(fmt::format("{} of {} bytes{} through kaccel's provider is wrong",
                              noun(direction), size, shape.in_place ? " in place" : ""));
    }
  }
}

}  // namespace kaccel::calibrate
