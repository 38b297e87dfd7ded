#include "tests/support/fake_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "kernel-bridge/known_drivers.hpp"

namespace kaccel::testing {

using kernel::Failure;
using kernel::Status;

namespace {

constexpr std::size_t index(FakeTransport::Step step) noexcept {
  return static_cast<std::size_t>(step);
}

// What a real driver may answer at each step.
constexpr std::array open_failures{Failure::no_af_alg, Failure::denied, Failure::no_driver,
                                   Failure::no_descriptors, Failure::no_memory};
constexpr std::array key_failures{Failure::bad_key, Failure::busy, Failure::descriptor_lost,
                                  Failure::no_memory, Failure::driver_error};
constexpr std::array crypt_failures{Failure::no_memory, Failure::descriptor_lost,
                                    Failure::short_transfer, Failure::driver_error, Failure::busy};

// OpenSSL's cipher for a kernel algorithm and a key of so many bytes; nullptr where there is none.
// Single DES is triple DES under one key three times, so that the legacy provider is not needed.
const char* cipher_name(kernel::Algorithm algorithm, std::size_t key_size) noexcept {
  constexpr std::array ecb{"AES-128-ECB", "AES-192-ECB", "AES-256-ECB"};
  constexpr std::array cbc{"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"};
  constexpr std::array ctr{"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"};
  const auto aes = [key_size](const auto& names) -> const char* {
    const bool known_size = key_size == 16 || key_size == 24 || key_size == 32;
    return known_size ? names[key_size / 8 - 2] : nullptr;
  };
  switch (algorithm) {
    case kernel::Algorithm::ecb_aes:
      return aes(ecb);
    case kernel::Algorithm::cbc_aes:
      return aes(cbc);
    case kernel::Algorithm::ctr_aes:
      return aes(ctr);
    case kernel::Algorithm::xts_aes:
      return key_size == 32 ? "AES-128-XTS" : key_size == 64 ? "AES-256-XTS" : nullptr;
    case kernel::Algorithm::ecb_des:
      return key_size == 8 ? "DES-EDE3-ECB" : nullptr;
    case kernel::Algorithm::cbc_des:
      return key_size == 8 ? "DES-EDE3-CBC" : nullptr;
    case kernel::Algorithm::ecb_des3_ede:
      return key_size == 24 ? "DES-EDE3-ECB" : nullptr;
    case kernel::Algorithm::cbc_des3_ede:
      return key_size == 24 ? "DES-EDE3-CBC" : nullptr;
    default:
      return nullptr;
  }
}

const char* digest_name(kernel::Algorithm algorithm) noexcept {
  switch (algorithm) {
    case kernel::Algorithm::hmac_md5:
      return "MD5";
    case kernel::Algorithm::hmac_sha1:
      return "SHA1";
    case kernel::Algorithm::hmac_sha224:
      return "SHA224";
    case kernel::Algorithm::hmac_sha256:
      return "SHA256";
    case kernel::Algorithm::hmac_sha384:
      return "SHA384";
    case kernel::Algorithm::hmac_sha512:
      return "SHA512";
    default:
      return nullptr;
  }
}

bool overlap(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) noexcept {
  const auto x = reinterpret_cast<std::uintptr_t>(a);
  const auto y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + size && y < x + size;
}

}  // namespace

class FakeTransport::FakeSession final : public kernel::Session {
 public:
  FakeSession(FakeTransport& transport, std::string driver, kernel::Algorithm algorithm,
              std::size_t max_request)
      : transport_(transport),
        driver_(std::move(driver)),
        row_(kernel::info(algorithm)),
        max_request_(max_request),
        context_(EVP_CIPHER_CTX_new()) {
    if (const auto* known = kernel::find_known_driver(driver_)) own_rules_ = known->restrictions;
  }

  ~FakeSession() override { transport_.session_closed(keyed_); }

  Status set_key(std::span<const std::uint8_t> key) noexcept override {
    check(!used_up_, "a key for a session that has failed");
    const kernel::Restrictions rules = combine(own_rules_, transport_.restrictions());
    check(permits_key(rules, key.size()), "a key of a refused size");
    if (const Status planned = transport_.next_call(Step::set_key); !planned) {
      used_up_ = true;
      return planned;
    }
    if (is_hash()) {
      check(!key.empty() && key.size() <= row_.hash_block_size, "an HMAC key of a refused size");
    } else {
      const char* name = cipher_name(row_.id, key.size());
      cipher_ = name == nullptr ? nullptr : fetch_cipher(transport_.library_, name);
      if (cipher_ == nullptr) {
        used_up_ = true;
        return {Failure::bad_key, EINVAL};
      }
    }
    key_.assign(key.begin(), key.end());
    if (!is_hash() && key.size() == 8) {  // single DES, see cipher_name
      key_.insert(key_.end(), key.begin(), key.end());
      key_.insert(key_.end(), key.begin(), key.end());
    }
    if (!keyed_) transport_.session_keyed();
    keyed_ = true;
    return kernel::success;
  }

  Status crypt(const kernel::CipherRequest& request) noexcept override {
    const std::size_t size = request.input.size();
    transport_.note_request(size);
    check(keyed_, "a request without a key");
    check(!used_up_, "a request to a session that has failed");
    check(request.iv.size() == row_.iv_size, "an IV of a wrong size");
    check(!is_hash(), "a cipher request to a hash");
    if (row_.chaining == kernel::Chaining::xts) {
      check(size >= row_.block_size, "a data unit below a block");
    } else {
      check(size != 0 && size % row_.block_size == 0, "a request that is not whole blocks");
    }
    check(size <= max_request_, "a request above max_request()");
    check(!overlap(request.input.data(), request.output, size), "input and output that overlap");
    check(direction_.value_or(request.direction) == request.direction,
          "both directions on one session");
    direction_ = request.direction;
    const kernel::Restrictions rules = combine(own_rules_, transport_.restrictions());
    check(permits_size(rules, size) && size <= rules.max_size, "a request of a refused size");

    if (const Status planned = transport_.next_call(Step::crypt); !planned) {
      std::memset(request.output, 0xa5, size);
      used_up_ = true;
      return planned;
    }
    return cipher(request) ? kernel::success : Status{Failure::driver_error, EIO};
  }

  Status mac(std::span<const std::uint8_t> message,
             std::span<std::uint8_t> result) noexcept override {
    transport_.note_request(message.size());
    check(keyed_, "a request without a key");
    check(!used_up_, "a request to a session that has failed");
    check(is_hash(), "a message for a cipher");
    check(result.size() == row_.digest_size, "a result of a wrong size");
    const kernel::Restrictions rules = combine(own_rules_, transport_.restrictions());
    check(
        !message.empty() && permits_size(rules, message.size()) && message.size() <= rules.max_size,
        "a message of a refused size");
    if (const Status planned = transport_.next_call(Step::crypt); !planned) {
      std::memset(result.data(), 0xa5, result.size());
      used_up_ = true;
      return planned;
    }
    std::size_t written = 0;
    const bool ok = EVP_Q_mac(transport_.library_.get(), "HMAC", nullptr, digest_name(row_.id),
                              nullptr, key_.data(), key_.size(), message.data(), message.size(),
                              result.data(), result.size(), &written) != nullptr;
    return ok && written == result.size() ? kernel::success : Status{Failure::driver_error, EIO};
  }

  std::size_t max_request() const noexcept override { return max_request_; }

 private:
  bool is_hash() const noexcept { return row_.chaining == kernel::Chaining::hash; }

  void check(bool right, const char* text) {
    if (!right) transport_.complain(driver_ + ": " + text);
  }

  bool cipher(const kernel::CipherRequest& request) noexcept {
    const int encrypt = request.direction == kernel::Direction::encrypt ? 1 : 0;
    const auto size = static_cast<int>(request.input.size());
    int written = 0;
    return EVP_CipherInit_ex2(context_.get(), cipher_.get(), key_.data(),
                              request.iv.empty() ? nullptr : request.iv.data(), encrypt,
                              nullptr) == 1 &&
           EVP_CIPHER_CTX_set_padding(context_.get(), 0) == 1 &&
           EVP_CipherUpdate(context_.get(), request.output, &written, request.input.data(), size) ==
               1 &&
           written == size;
  }

  FakeTransport& transport_;
  const std::string driver_;
  const kernel::AlgorithmInfo& row_;
  const std::size_t max_request_;
  kernel::Restrictions own_rules_;
  CipherContextPointer context_;
  CipherPointer cipher_;
  std::vector<std::uint8_t> key_;
  std::optional<kernel::Direction> direction_;
  bool keyed_ = false;
  bool used_up_ = false;
};

FakeTransport::FakeTransport() : library_(LibraryContext::with_default_provider()) {}

FakeTransport::~FakeTransport() = default;

Status FakeTransport::open(const char* driver, kernel::Algorithm algorithm,
                           std::unique_ptr<kernel::Session>& session) noexcept {
  if (const Status planned = next_call(Step::open); !planned) return planned;
  std::size_t max_request = 0;
  {
    const std::lock_guard lock(mutex_);
    max_request = max_request_;
    most_open_sessions_ = std::max(most_open_sessions_, ++open_sessions_);
  }
  session = std::make_unique<FakeSession>(*this, driver, algorithm, max_request);
  return kernel::success;
}

void FakeTransport::set_max_request(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  max_request_ = bytes;
}

void FakeTransport::set_restrictions(const kernel::Restrictions& restrictions) {
  const std::lock_guard lock(mutex_);
  restrictions_ = restrictions;
}

void FakeTransport::fail(Step step, Failure failure, std::uint64_t nth, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t first = calls_[index(step)] + nth;
  faults_[index(step)] = {failure, first, first + count - 1};
}

void FakeTransport::fail_randomly(std::uint32_t seed, std::uint32_t one_in) {
  const std::lock_guard lock(mutex_);
  random_.seed(seed);
  random_one_in_ = one_in;
}

void FakeTransport::fail_no_more() {
  const std::lock_guard lock(mutex_);
  faults_ = {};
  random_one_in_ = 0;
}

std::vector<std::string> FakeTransport::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

std::vector<std::size_t> FakeTransport::request_sizes() const {
  const std::lock_guard lock(mutex_);
  return request_sizes_;
}

std::uint64_t FakeTransport::calls(Step step) const {
  const std::lock_guard lock(mutex_);
  return calls_[index(step)];
}

std::size_t FakeTransport::open_sessions() const {
  const std::lock_guard lock(mutex_);
  return open_sessions_;
}

std::size_t FakeTransport::most_open_sessions() const {
  const std::lock_guard lock(mutex_);
  return most_open_sessions_;
}

std::size_t FakeTransport::keyed_sessions() const {
  const std::lock_guard lock(mutex_);
  return keyed_sessions_;
}

void FakeTransport::hold_next(Step step) {
  const std::lock_guard lock(mutex_);
  hold_next_ = step;
}

bool FakeTransport::wait_until_held(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return hold_changed_.wait_for(lock, at_most, [this] { return holding_; });
}

void FakeTransport::let_go() {
  const std::lock_guard lock(mutex_);
  hold_next_.reset();
  holding_ = false;
  hold_changed_.notify_all();
}

Status FakeTransport::next_call(Step step) {
  std::unique_lock lock(mutex_);
  if (hold_next_ == step) {
    hold_next_.reset();
    holding_ = true;
    hold_changed_.notify_all();
    hold_changed_.wait(lock, [this] { return !holding_; });
  }
  const std::uint64_t number = ++calls_[index(step)];
  const PlannedFault& fault = faults_[index(step)];
  if (fault.first <= number && number <= fault.last) return {fault.failure, EIO};
  if (random_one_in_ == 0 || random_() % random_one_in_ != 0) return kernel::success;
  const auto any_of = [this](const auto& failures) {
    return Status{failures[random_() % failures.size()], EIO};
  };
  switch (step) {
    case Step::open:
      return any_of(open_failures);
    case Step::set_key:
      return any_of(key_failures);
    case Step::crypt:
      break;
  }
  return any_of(crypt_failures);
}

void FakeTransport::complain(const std::string& text) {
  const std::lock_guard lock(mutex_);
  violations_.push_back(text);
}

void FakeTransport::session_closed(bool keyed) {
  const std::lock_guard lock(mutex_);
  --open_sessions_;
  if (keyed) --keyed_sessions_;
}

void FakeTransport::session_keyed() {
  const std::lock_guard lock(mutex_);
  ++keyed_sessions_;
}

void FakeTransport::note_request(std::size_t size) {
  const std::lock_guard lock(mutex_);
  request_sizes_.push_back(size);
}

kernel::Restrictions FakeTransport::restrictions() const {
  const std::lock_guard lock(mutex_);
  return restrictions_;
}

}  // namespace kaccel::testing
