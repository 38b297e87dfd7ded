#include "calibrate/timed_operation.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <vector>

#include "calibrate/gcm_stream.hpp"
#include "calibrate/mac_stream.hpp"
#include "calibrate/random_bytes.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Direction;
using Bytes = std::vector<std::uint8_t>;

std::uint64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// An update of a block mode, a data unit of XTS.
class CipherOperation final : public TimedOperation {
 public:
  CipherOperation(const Algorithm& algorithm, Direction direction, const OpensslContext& context,
                  std::size_t largest_size)
      : stream_(context, algorithm.name, direction, RandomBytes(1).bytes(algorithm.key_size),
                RandomBytes(2).bytes(kernel::info(algorithm.kernel_algorithm).iv_size)),
        // EVP wants room for a block more.
        buffer_(largest_size + 64) {}

 private:
  void operate(std::size_t size) override { stream_.update(buffer_.data(), size, buffer_.data()); }

  CipherStream stream_;
  Bytes buffer_;
};

// A message from a new IV to its tag, with AAD as TLS 1.2 has it.
class GcmOperation : public TimedOperation {
 protected:
  static constexpr std::size_t aad_size = 13;

  GcmOperation(const Algorithm& algorithm, Direction direction, const OpensslContext& context,
               std::size_t largest_size)
      : key_(RandomBytes(1).bytes(algorithm.key_size)),
        aad_(RandomBytes(2).bytes(aad_size)),
        buffer_(largest_size),
        stream_(context, algorithm.name, direction, key_) {}

  Bytes key_;
  Bytes aad_;
  Bytes buffer_;
  std::array<std::uint8_t, GcmStream::iv_size> iv_{};
  std::array<std::uint8_t, GcmStream::tag_size> tag_{};
  GcmStream stream_;
};

class GcmEncryption final : public GcmOperation {
 public:
  GcmEncryption(const Algorithm& algorithm, const OpensslContext& context, std::size_t largest_size)
      : GcmOperation(algorithm, Direction::encrypt, context, largest_size) {}

 private:
  void operate(std::size_t size) override {
    for (std::size_t i = iv_.size(); i-- > 0 && ++iv_[i] == 0;) {
    }
    stream_.begin(iv_, aad_);
    stream_.update(buffer_.data(), size, buffer_.data());
    stream_.take_tag(tag_);
  }
};

// The same message each time, since only a right one has a right tag. In place it has to be laid
// down anew; that copy costs both sides alike.
class GcmDecryption final : public GcmOperation {
 public:
  GcmDecryption(const Algorithm& algorithm, const OpensslContext& context,
                const OpensslContext& software, std::size_t largest_size)
      : GcmOperation(algorithm, Direction::decrypt, context, largest_size),
        encryption_(software, algorithm.name, Direction::encrypt, key_),
        ciphertext_(largest_size) {}

 private:
  void prepare(std::size_t size) override {
    std::fill_n(ciphertext_.begin(), size, std::uint8_t{});
    encryption_.begin(iv_, aad_);
    encryption_.update(ciphertext_.data(), size, ciphertext_.data());
    encryption_.take_tag(tag_);
  }

  void operate(std::size_t size) override {
    std::copy_n(ciphertext_.begin(), size, buffer_.begin());
    stream_.begin(iv_, aad_);
    stream_.update(buffer_.data(), size, buffer_.data());
    stream_.check_tag(tag_);
  }

  GcmStream encryption_;
  Bytes ciphertext_;
};

// A message under the same key.
class MacOperation final : public TimedOperation {
 public:
  MacOperation(const Algorithm& algorithm, const OpensslContext& context, std::size_t largest_size)
      // As long as the digest: TLS derives such keys.
      : result_(kernel::info(algorithm.kernel_algorithm).digest_size),
        message_(largest_size),
        stream_(context, algorithm, RandomBytes(1).bytes(result_.size())) {}

 private:
  void operate(std::size_t size) override {
    stream_.restart();
    stream_.update(message_.data(), size);
    stream_.finish(result_);
  }

  Bytes result_;
  Bytes message_;
  MacStream stream_;
};

}  // namespace

Interval span(const Interval& a, const Interval& b) noexcept {
  return {{std::min(a.start.wall_ns, b.start.wall_ns), std::min(a.start.cpu_ns, b.start.cpu_ns)},
          {std::max(a.end.wall_ns, b.end.wall_ns), std::max(a.end.cpu_ns, b.end.cpu_ns)}};
}

void TimedOperation::prepare_for(std::size_t size) {
  if (size != prepared_size_) prepare(size);
  prepared_size_ = size;
}

Interval TimedOperation::run(std::size_t size, unsigned count) {
  Interval interval;
  interval.start.wall_ns = now_ns(CLOCK_MONOTONIC);
  interval.start.cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (unsigned i = 0; i < count; ++i) operate(size);
  interval.end.cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  interval.end.wall_ns = now_ns(CLOCK_MONOTONIC);
  return interval;
}

std::unique_ptr<TimedOperation> make_operation(const Algorithm& algorithm, Direction direction,
                                               const OpensslContext& context,
                                               const OpensslContext& software,
                                               std::size_t largest_size) {
  switch (algorithm.kind) {
    case Kind::hmac:
      return std::make_unique<MacOperation>(algorithm, context, largest_size);
    case Kind::gcm:
      if (direction == Direction::encrypt) {
        return std::make_unique<GcmEncryption>(algorithm, context, largest_size);
      }
      return std::make_unique<GcmDecryption>(algorithm, context, software, largest_size);
    case Kind::blocks:
    case Kind::data_units:
      break;
  }
  return std::make_unique<CipherOperation>(algorithm, direction, context, largest_size);
}

}  // namespace kaccel::calibrate
