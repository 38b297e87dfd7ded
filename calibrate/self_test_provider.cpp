#include "calibrate/self_test_provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
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

constexpr std::size_t aad_size = 13;  // TLS 1.2's
// The calls around the long one.
constexpr std::size_t short_calls = 6;
constexpr std::size_t longest_short_call = 2048;

// Several where they are short.
constexpr int messages(std::size_t length) {
  return length <= 4096 ? 2 : 1;
}

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
    } else if (algorithm_.kind == Kind::gcm) {
      for (int message = 0; message < messages(length_); ++message) compare_gcm();
    } else if (algorithm_.kind == Kind::data_units) {
      compare_units();
    } else {
      compare_stream();
    }
  }

 private:
  [[noreturn]] static void fail(const char* what, std::size_t size, bool in_place) {
    throw Fault(fmt::format("{} of {} bytes{} through kaccel's provider is wrong", what, size,
                            in_place ? " in place" : ""));
  }

  std::size_t short_size() { return 1 + random_.number() % std::min(length_, longest_short_call); }

  template <class Try>
  static void in_each_way(const Try& try_it) {
    for (const auto direction : {Direction::encrypt, Direction::decrypt}) {
      for (const bool in_place : {false, true}) try_it(direction, in_place);
    }
  }

  // Memory for a call's output. Where that is to lie over the input, this is put there.
  PlacedBuffer buffer_for(std::span<const std::uint8_t> input, std::size_t size, bool in_place) {
    PlacedBuffer buffer(size, random_.number() % 32);
    if (in_place) std::copy(input.begin(), input.end(), buffer.data());
    return buffer;
  }

  // One message in calls of odd sizes, which complete each other's blocks. In place it is whole
  // blocks, so that nothing is held back and output never overtakes input.
  void compare_stream() {
    const std::size_t block = info_.block_size;
    const auto key = random_.bytes(algorithm_.key_size);
    const auto iv = random_.bytes(info_.iv_size);
    const std::size_t size =
        (length_ + short_calls * std::min(length_, longest_short_call) / 2) / block * block;
    const auto plaintext = random_.bytes(size);
    Bytes ciphertext(size + block);
    ciphertext.resize(CipherStream(software_, algorithm_.name, Direction::encrypt, key, iv)
                          .update(plaintext.data(), size, ciphertext.data()));
    in_each_way([&](Direction direction, bool in_place) {
      const bool encrypts = direction == Direction::encrypt;
      const auto& input = encrypts ? plaintext : ciphertext;
      const auto& expected = encrypts ? ciphertext : plaintext;
      CipherStream tested(accelerated_, algorithm_.name, direction, key, iv);
      std::size_t taken = 0;
      std::size_t given = 0;
      for (int call = 0; taken < size; ++call) {
        std::size_t part = call == 1 ? length_ : short_size();
        if (in_place) part = (part + block - 1) / block * block;
        part = std::min(part, size - taken);
        const auto source = std::span(input).subspan(taken, part);
        auto buffer = buffer_for(source, part + block, in_place);
        const std::size_t written =
            tested.update(in_place ? buffer.data() : source.data(), part, buffer.data());
        taken += part;
        if (written > size - given ||
            !std::equal(buffer.data(), buffer.data() + written, expected.data() + given)) {
          fail(noun(direction), part, in_place);
        }
        given += written;
        if (taken - given >= block) fail(noun(direction), part, in_place);
      }
      if (given != size) fail(noun(direction), size, in_place);
    });
  }

  // Each call a data unit under the same tweak.
  void compare_units() {
    struct Unit {
      Bytes plaintext;
      Bytes ciphertext;
    };
    const std::size_t block = info_.block_size;
    const auto key = random_.bytes(algorithm_.key_size);
    const auto iv = random_.bytes(info_.iv_size);
    CipherStream software(software_, algorithm_.name, Direction::encrypt, key, iv);
    std::vector<Unit> units(1 + short_calls);
    for (std::size_t i = 0; i < units.size(); ++i) {
      std::size_t size = i == 0 ? length_ : std::max(short_size(), block);
      if (length_ % block == 0) size = size / block * block;
      units[i] = {random_.bytes(size), Bytes(size)};
      software.update(units[i].plaintext.data(), size, units[i].ciphertext.data());
    }
    in_each_way([&](Direction direction, bool in_place) {
      const bool encrypts = direction == Direction::encrypt;
      CipherStream tested(accelerated_, algorithm_.name, direction, key, iv);
      for (const auto& unit : units) {
        const auto& input = encrypts ? unit.plaintext : unit.ciphertext;
        auto buffer = buffer_for(input, input.size(), in_place);
        tested.update(in_place ? buffer.data() : input.data(), input.size(), buffer.data());
        if (!buffer.holds(encrypts ? unit.ciphertext : unit.plaintext)) {
          fail(noun(direction), input.size(), in_place);
        }
      }
    });
  }

  // A message in four pieces, the first of which sends it to the driver.
  void compare_gcm() {
    const auto key = random_.bytes(algorithm_.key_size);
    const auto aad = random_.bytes(aad_size);
    std::array<std::uint8_t, GcmStream::iv_size> iv{};
    for (auto& byte : iv) byte = static_cast<std::uint8_t>(random_.number());
    const std::array<std::size_t, 4> pieces{length_, short_size(), short_size(), short_size()};
    std::size_t size = 0;
    for (const std::size_t piece : pieces) size += piece;

    const auto plaintext = random_.bytes(size);
    Bytes ciphertext(size);
    std::array<std::uint8_t, GcmStream::tag_size> tag{};
    GcmStream right(software_, algorithm_.name, Direction::encrypt, key);
    right.begin(iv, aad);
    right.update(plaintext.data(), size, ciphertext.data());
    right.take_tag(tag);

    in_each_way([&](Direction direction, bool in_place) {
      const bool encrypts = direction == Direction::encrypt;
      const auto& input = encrypts ? plaintext : ciphertext;
      auto buffer = buffer_for(input, size, in_place);
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
    });
  }

  // A key longer than a block is hashed by the provider.
  void compare_macs() {
    constexpr int messages = 6;
    const std::size_t block = info_.hash_block_size;
    for (const std::size_t key_size : {std::size_t{1}, block, block + 7}) {
      const auto key = random_.bytes(key_size);
      MacStream tested(accelerated_, algorithm_, key);
      MacStream right(software_, algorithm_, key);
      for (int message = 0; message < messages; ++message) {
        const bool is_long = message == 0 && (key_size == 1 || length_ <= longest_short_call);
        const std::size_t size = is_long ? length_ : short_size();
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

void ProviderTest::run(RandomBytes& random, std::size_t length) {
  const bool is_partial_unit =
      subject_.algorithm.kind == Kind::data_units &&
      length % kernel::info(subject_.algorithm.kernel_algorithm).block_size != 0;
  if (!accelerated_ || partial_units_ != is_partial_unit) {
    accelerated_.reset();
    accelerated_.emplace(OpensslContext::with_kaccel(
        always_on_hardware(subject_.algorithm, subject_.driver, {subject_.known, is_partial_unit}),
        transport_));
    partial_units_ = is_partial_unit;
  }
  const auto before = accelerated_->counters();
  Comparison(subject_, *accelerated_, software_, random, length).run();
  const auto after = accelerated_->counters();
  if (after.fallbacks > before.fallbacks) throw Fault("a request through kaccel's provider fails");
  if (after.requests == before.requests) throw Fault("kaccel's provider does not use the driver");
}

}  // namespace kaccel::calibrate
