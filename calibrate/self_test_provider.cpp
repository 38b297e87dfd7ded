#include "calibrate/self_test_provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "calibrate/gcm_stream.hpp"
#include "calibrate/hardware_settings.hpp"
#include "calibrate/mac_stream.hpp"
#include "calibrate/placed_buffer.hpp"
#include "calibrate/self_test_fault.hpp"

namespace kaccel::calibrate {
namespace {

using Bytes = std::vector<std::uint8_t>;
using kernel::Direction;

constexpr int calls = 24;  // of a stream
constexpr int messages = 6;
constexpr std::size_t aad_size = 13;  // TLS 1.2's

// One algorithm through kaccel's provider and through OpenSSL's.
class Comparison {
 public:
  Comparison(const TestSubject& subject, const OpensslContext& accelerated,
             const OpensslContext& software, RandomBytes& random, std::size_t length)
      : algorithm_(subject.algorithm),
        info_(kernel::info(subject.algorithm.kernel_algorithm)),
        accelerated_(accelerated),
        software_(software),
        random_(random),
        length_(length) {}

  void run() {
    if (is_mac(algorithm_)) {
      compare_macs();
      return;
    }
    for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
      for (const bool in_place : {false, true}) {
        if (algorithm_.kind == Kind::gcm) {
          for (int message = 0; message < messages; ++message) compare_gcm(direction, in_place);
        } else {
          compare_stream(direction, in_place);
        }
      }
    }
  }

 private:
  [[noreturn]] static void fail(const char* what, std::size_t size, bool in_place) {
    throw Fault(fmt::format("{} of {} bytes{} through kaccel's provider is wrong", what, size,
                            in_place ? " in place" : ""));
  }

  std::size_t random_size() { return 1 + random_.number() % length_; }

  // In place, block modes get whole blocks, so that nothing is held back and output never overtakes
  // input. XTS gets data units.
  std::size_t call_size(int call, bool in_place) {
    const std::size_t block = info_.block_size;
    if (algorithm_.kind == Kind::data_units) {
      if (call == 0) return length_;
      const std::size_t size = std::max(random_size(), block);
      return length_ % block == 0 ? size / block * block : size;
    }
    const std::size_t size = random_size();
    return in_place ? (size + block - 1) / block * block : size;
  }

  void compare_stream(Direction direction, bool in_place) {
    const auto key = random_.bytes(algorithm_.key_size);
    const auto iv = random_.bytes(info_.iv_size);
    CipherStream tested(accelerated_, algorithm_.name, direction, key, iv);
    CipherStream right(software_, algorithm_.name, direction, key, iv);
    for (int call = 0; call < calls; ++call) {
      const std::size_t size = call_size(call, in_place);
      const auto input = random_.bytes(size);
      Bytes expected(size + info_.block_size);
      expected.resize(right.update(input.data(), size, expected.data()));

      PlacedBuffer buffer(size + info_.block_size, random_.number() % 32);
      if (in_place) std::copy(input.begin(), input.end(), buffer.data());
      const auto* source = in_place ? buffer.data() : input.data();
      const std::size_t written = tested.update(source, size, buffer.data());
      if (written != expected.size() ||
          !std::equal(expected.begin(), expected.end(), buffer.data())) {
        fail(noun(direction), size, in_place);
      }
    }
  }

  // A message in four pieces, the first of which sends it to the driver.
  void compare_gcm(Direction direction, bool in_place) {
    const auto key = random_.bytes(algorithm_.key_size);
    const auto aad = random_.bytes(aad_size);
    std::array<std::uint8_t, GcmStream::iv_size> iv{};
    for (auto& byte : iv) byte = static_cast<std::uint8_t>(random_.number());
    const std::array<std::size_t, 4> pieces{length_, random_size(), random_size(), random_size()};
    std::size_t size = 0;
    for (const std::size_t piece : pieces) size += piece;

    const auto plaintext = random_.bytes(size);
    Bytes ciphertext(size);
    std::array<std::uint8_t, GcmStream::tag_size> tag{};
    GcmStream right(software_, algorithm_.name, Direction::encrypt, key);
    right.begin(iv, aad);
    right.update(plaintext.data(), size, ciphertext.data());
    right.take_tag(tag);

    const bool encrypts = direction == Direction::encrypt;
    const auto& input = encrypts ? plaintext : ciphertext;
    PlacedBuffer buffer(size, random_.number() % 32);
    if (in_place) std::copy(input.begin(), input.end(), buffer.data());
    const auto* source = in_place ? buffer.data() : input.data();
    GcmStream tested(accelerated_, algorithm_.name, direction, key);
    tested.begin(iv, aad);
    std::size_t done = 0;
    for (const std::size_t piece : pieces) {
      tested.update(source + done, piece, buffer.data() + done);
      done += piece;
    }
    if (!buffer.holds(encrypts ? ciphertext : plaintext)) fail(noun(direction), size, in_place);
    if (encrypts) {
      std::array<std::uint8_t, GcmStream::tag_size> own_tag{};
      tested.take_tag(own_tag);
      if (own_tag != tag) fail("the tag", size, in_place);
    } else {
      tested.check_tag(tag);
    }
  }

  // A key longer than a block is hashed by the provider.
  void compare_macs() {
    const std::size_t block = info_.hash_block_size;
    for (const std::size_t key_size : {std::size_t{1}, block, block + 7}) {
      const auto key = random_.bytes(key_size);
      MacStream tested(accelerated_, algorithm_, key);
      MacStream right(software_, algorithm_, key);
      for (int message = 0; message < messages; ++message) {
        const std::size_t size = message == 0 ? length_ : random_size();
        const auto text = random_.bytes(size);
        const std::size_t first_piece = random_.number() % (size + 1);
        Bytes result(info_.digest_size);
        tested.restart();
        tested.update(text.data(), first_piece);
        tested.update(text.data() + first_piece, size - first_piece);
        tested.finish(result);
        if (result != right.mac_of(text)) fail("the MAC", size, false);
      }
    }
  }

  const Algorithm& algorithm_;
  const kernel::AlgorithmInfo& info_;
  const OpensslContext& accelerated_;
  const OpensslContext& software_;
  RandomBytes& random_;
  const std::size_t length_;
};

}  // namespace

void test_through_provider(const TestSubject& subject, kernel::Transport& transport,
                           const OpensslContext& software, RandomBytes& random,
                           std::size_t length) {
  const bool is_partial_unit =
      subject.algorithm.kind == Kind::data_units &&
      length % kernel::info(subject.algorithm.kernel_algorithm).block_size != 0;
  const auto accelerated = OpensslContext::with_kaccel(
      always_on_hardware(subject.algorithm, subject.driver, {subject.known, is_partial_unit}),
      transport);
  Comparison(subject, accelerated, software, random, length).run();
  const auto counters = accelerated.counters();
  if (counters.fallbacks > 0) throw Fault("a request through kaccel's provider fails");
  if (counters.requests == 0) throw Fault("kaccel's provider does not use the driver");
}

}  // namespace kaccel::calibrate
