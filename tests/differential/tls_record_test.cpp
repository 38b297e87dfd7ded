// CBC as libssl uses it for TLS 1.2 without Encrypt-then-MAC: one record an update, in place, the
// padding and (decrypting) the MAC handled by the provider.

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/ssl3.h>
#include <openssl/tls1.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t block = 16;
constexpr std::size_t largest_record = 16384;
constexpr std::uint8_t guard_byte = 0xee;
constexpr std::array<unsigned int, 3> tls_versions{TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION};
constexpr std::array<std::size_t, 3> mac_sizes{0, 20, 32};

struct Record {
  int result = 0;
  int reason = 0;
  Bytes bytes;  // what came out
  Bytes mac;    // what the provider took off
  bool ran_over = false;

  friend bool operator==(const Record&, const Record&) = default;
};

class TlsContext {
 public:
  TlsContext(const LibraryContext& library, const char* algorithm, unsigned int version,
             std::size_t mac_size, bool encrypting, const Bytes& key, const Bytes& iv)
      : cipher_(fetch_cipher(library, algorithm)),
        context_(EVP_CIPHER_CTX_new()),
        mac_size_(mac_size) {
    std::array params{OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
                      OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac_size_),
                      OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_CipherInit_ex2(context_.get(), cipher_.get(), key.data(), iv.data(),
                                 encrypting ? 1 : 0, nullptr),
              1);
    // An init with nothing but an IV, for which kaccel has a short way.
    if (iv[0] % 2 == 0) {
      EXPECT_EQ(EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, iv.data(), -1, nullptr), 1);
    }
    EXPECT_EQ(EVP_CIPHER_CTX_set_params(context_.get(), params.data()), 1);
  }

  Record in_place(const Bytes& data) {
    Record record;
    Bytes memory = data;
    memory.resize(data.size() + block + 32, guard_byte);
    int written = 0;
    ERR_clear_error();
    record.result = EVP_CipherUpdate(context_.get(), memory.data(), &written, memory.data(),
                                     static_cast<int>(data.size()));
    record.reason = ERR_GET_REASON(ERR_peek_last_error());
    record.ran_over = std::any_of(memory.end() - 32, memory.end(),
                                  [](std::uint8_t byte) { return byte != guard_byte; });
    if (record.result == 1) record.bytes.assign(memory.data(), memory.data() + written);
    record.mac = mac();
    return record;
  }

  // Refused by the default provider: TLS records are ciphered in place.
  Record apart(const Bytes& data) {
    Record record;
    Bytes out(data.size() + block);
    int written = 0;
    ERR_clear_error();
    record.result = EVP_CipherUpdate(context_.get(), out.data(), &written, data.data(),
                                     static_cast<int>(data.size()));
    record.reason = ERR_GET_REASON(ERR_peek_last_error());
    return record;
  }

 private:
  Bytes mac() {
    if (mac_size_ == 0) return {};
    void* bytes = nullptr;
    std::array params{OSSL_PARAM_construct_octet_ptr(OSSL_CIPHER_PARAM_TLS_MAC, &bytes, mac_size_),
                      OSSL_PARAM_construct_end()};
    if (EVP_CIPHER_CTX_get_params(context_.get(), params.data()) != 1 || bytes == nullptr) {
      return {};
    }
    const auto* start = static_cast<const std::uint8_t*>(bytes);
    return {start, start + mac_size_};
  }

  CipherPointer cipher_;
  CipherContextPointer context_;
  std::size_t mac_size_;
};

class TlsRecord : public ::testing::TestWithParam<const char*> {
 protected:
  Bytes random_bytes(std::size_t size) {
    Bytes bytes(size);
    std::generate(bytes.begin(), bytes.end(),
                  [this] { return static_cast<std::uint8_t>(random_()); });
    return bytes;
  }

  std::size_t choose_size(std::size_t least) {
    const std::size_t size =
        random_() % 2 == 0 ? random_() % (largest_record + 1) : random_() % 600;
    return std::max(size, least);
  }

  std::size_t key_size() const { return algorithm_table[find_algorithm(GetParam())].key_size; }

  // Records of all sizes through both; what kaccel encrypted is decrypted by both.
  void compare_streams(const KaccelUnderTest& kaccel, unsigned int version, std::size_t mac_size) {
    const Bytes key = random_bytes(key_size());
    const Bytes iv = random_bytes(block);
    const auto make = [&](const LibraryContext& library, bool encrypting) {
      return TlsContext(library, GetParam(), version, mac_size, encrypting, key, iv);
    };
    TlsContext reference_out = make(default_, true);
    TlsContext kaccel_out = make(kaccel.library(), true);
    TlsContext reference_in = make(default_, false);
    TlsContext kaccel_in = make(kaccel.library(), false);
    for (int i = 0; i < 40; ++i) {
      const Bytes plain = random_bytes(choose_size(block + mac_size + 1));
      const Record reference = reference_out.in_place(plain);
      const Record ours = kaccel_out.in_place(plain);
      ASSERT_EQ(reference.result, 1);
      ASSERT_EQ(ours.reason, 0);
      ASSERT_TRUE(reference == ours) << "encrypting " << plain.size();
      const Record back = reference_in.in_place(reference.bytes);
      ASSERT_TRUE(back == kaccel_in.in_place(reference.bytes)) << "decrypting " << plain.size();
      ASSERT_EQ(back.result, 1);
    }
  }

  const LibraryContext& default_provider() const { return default_; }

 private:
  const LibraryContext default_ = LibraryContext::with_default_provider();
  std::mt19937 random_{static_cast<std::uint32_t>(number_from_environment("KACCEL_TEST_SEED", 1)) +
                       77};
};

TEST_P(TlsRecord, IsWhatTheDefaultProviderMakesIt) {
  for (const Threshold threshold : {0, 16, 512, -1}) {
    const KaccelUnderTest kaccel(settings_with_thresholds(threshold, threshold));
    for (const unsigned int version : tls_versions) {
      for (const std::size_t mac_size : mac_sizes) compare_streams(kaccel, version, mac_size);
    }
    const bool expected = threshold >= 0 && has_hardware(GetParam());
    EXPECT_EQ(kaccel.counter("hardware-calls") > 0, expected) << "threshold " << threshold;
    if (kaccel.fake() != nullptr) {
      EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
    }
  }
}

TEST_P(TlsRecord, IsTheSameWhateverTheDriverFails) {
  if (on_real_kernel()) GTEST_SKIP() << "needs faults on demand";
  std::uint64_t fallbacks = 0;
  for (std::uint32_t seed = 1; seed < 30; ++seed) {
    const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
    kaccel.fake()->set_max_request(1024);
    kaccel.fake()->fail_randomly(seed, 30);
    compare_streams(kaccel, TLS1_2_VERSION, 20);
    fallbacks += kaccel.counter("fallbacks");
  }
  EXPECT_GT(fallbacks, 0U);
}

// It is a block of padding, and the next record's IV.
TEST_P(TlsRecord, OfNoBytesIsOneToo) {
  for (const Threshold threshold : {0, 16, 512}) {
    const KaccelUnderTest kaccel(settings_with_thresholds(threshold, threshold));
    const Bytes key = random_bytes(key_size());
    for (const std::uint8_t first_byte : {std::uint8_t{0}, std::uint8_t{1}}) {
      Bytes iv = random_bytes(block);
      iv[0] = first_byte;
      TlsContext reference(default_provider(), GetParam(), TLS1_2_VERSION, 0, true, key, iv);
      TlsContext ours(kaccel.library(), GetParam(), TLS1_2_VERSION, 0, true, key, iv);
      for (const std::size_t size : {0U, 1000U, 0U, 0U, 600U, 10U, 0U, 2000U}) {
        const Bytes plain = random_bytes(size);
        ASSERT_TRUE(reference.in_place(plain) == ours.in_place(plain)) << size;
      }
    }
  }
}

TEST_P(TlsRecord, OfSsl3IsPaddedAsTheDefaultProviderPadsIt) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const Bytes key = random_bytes(key_size());
  const Bytes iv = random_bytes(block);
  TlsContext reference(default_provider(), GetParam(), SSL3_VERSION, 0, true, key, iv);
  TlsContext ours(kaccel.library(), GetParam(), SSL3_VERSION, 0, true, key, iv);
  for (std::size_t size = 1; size < 700; size += 13) {
    const Bytes plain = random_bytes(size);
    ASSERT_TRUE(reference.in_place(plain) == ours.in_place(plain)) << size;
  }
}

TEST_P(TlsRecord, IsRefusedAsTheDefaultProviderRefusesIt) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const Bytes key = random_bytes(key_size());
  const Bytes iv = random_bytes(block);
  for (const bool encrypting : {true, false}) {
    TlsContext reference(default_provider(), GetParam(), TLS1_2_VERSION, 0, encrypting, key, iv);
    TlsContext ours(kaccel.library(), GetParam(), TLS1_2_VERSION, 0, encrypting, key, iv);
    // First what works, so that kaccel has state of its own; then input and output apart; then a
    // length that is no record, or a padding that is none.
    const Bytes good = random_bytes(1024);
    if (encrypting) {
      ASSERT_TRUE(reference.in_place(good) == ours.in_place(good));
    }
    const Record refused = reference.apart(good);
    EXPECT_EQ(refused.result, 0);
    EXPECT_TRUE(refused == ours.apart(good));
    const Bytes odd = random_bytes(1001);
    EXPECT_TRUE(reference.in_place(odd) == ours.in_place(odd));
    EXPECT_TRUE(reference.in_place(good) == ours.in_place(good));
  }
}

std::string test_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name(info.param);
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, TlsRecord,
                         ::testing::Values("AES-128-CBC", "AES-192-CBC", "AES-256-CBC"), test_name);

}  // namespace
}  // namespace kaccel::testing
