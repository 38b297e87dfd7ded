// Where HMAC messages go, and what duplicating costs.

#include "provider/hmac_context.hpp"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};
constexpr std::uint8_t empty_key = 0;
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

class HmacContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (on_real_kernel()) GTEST_SKIP() << "counts what the fake transport is asked for";
  }

  static MacContext keyed(const LibraryContext& library, const Bytes& key,
                          const char* digest = "SHA256") {
    const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(library.get(), "HMAC", nullptr));
    MacContext context(EVP_MAC_CTX_new(mac.get()));
    std::string name(digest);
    const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), 0),
                            OSSL_PARAM_construct_end()};
    // An empty vector has no address, and no key is not the empty key.
    const std::uint8_t* bytes = key.empty() ? &empty_key : key.data();
    EXPECT_EQ(EVP_MAC_init(context.get(), bytes, key.size(), params.data()), 1);
    return context;
  }

  static void update(const MacContext& context, std::size_t size) {
    const Bytes data(size, 0x44);
    EXPECT_EQ(EVP_MAC_update(context.get(), data.data(), data.size()), 1);
  }

  static Bytes finish(const MacContext& context) {
    Bytes result(64);
    std::size_t size = 0;
    EXPECT_EQ(EVP_MAC_final(context.get(), result.data(), &size, result.size()), 1);
    result.resize(size);
    return result;
  }

  // One message on both sides; returns how many calls hardware answered.
  std::uint64_t message(const KaccelUnderTest& kaccel, const std::vector<std::size_t>& sizes,
                        const Bytes& key, const char* digest = "SHA256") {
    const std::uint64_t before = kaccel.counter("hardware-calls");
    const MacContext own = keyed(kaccel.library(), key, digest);
    const MacContext reference = keyed(default_, key, digest);
    for (const std::size_t size : sizes) {
      update(own, size);
      update(reference, size);
    }
    EXPECT_EQ(finish(own), finish(reference));
    return kaccel.counter("hardware-calls") - before;
  }

  const Bytes key_ = Bytes(32, 0x11);
  const LibraryContext default_ = LibraryContext::with_default_provider();
};

TEST_F(HmacContextTest, DecidesAtTheEndOfTheMessage) {
  const KaccelUnderTest kaccel(settings_with_thresholds(1024, 1024));
  EXPECT_EQ(message(kaccel, {1024}, key_), 0U);
  EXPECT_EQ(message(kaccel, {1025}, key_), 1U);
  EXPECT_EQ(message(kaccel, {1000, 24, 1}, key_), 1U);
  EXPECT_EQ(kaccel.fake()->request_sizes(), (std::vector<std::size_t>{1025, 1025}));
}

TEST_F(HmacContextTest, NeverAsksForTheEmptyMessage) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  EXPECT_EQ(message(kaccel, {}, key_), 0U);
  EXPECT_EQ(message(kaccel, {0}, key_), 0U);
  EXPECT_EQ(message(kaccel, {1}, key_), 1U);
}

TEST_F(HmacContextTest, TakesKeysOfEverySize) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  for (const char* digest : {"MD5", "SHA1", "SHA2-224", "sha256", "SHA384", "SHA512"}) {
    for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 129U, 1000U}) {
      EXPECT_EQ(message(kaccel, {200}, Bytes(size, 0x77), digest), 1U) << digest << " " << size;
    }
  }
  EXPECT_EQ(kaccel.fake()->violations(), std::vector<std::string>{});
}

TEST_F(HmacContextTest, LeavesDigestsWithoutARouteAlone) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  for (const char* digest : {"SHA512-256", "SHA3-256", "BLAKE2s256", "SM3", "RIPEMD160"}) {
    EXPECT_EQ(message(kaccel, {200}, key_, digest), 0U) << digest;
  }
}

TEST_F(HmacContextTest, HandsOverWhatGrowsTooLong) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  constexpr std::size_t most = HmacContext::longest_message;
  EXPECT_EQ(message(kaccel, {most}, key_), 1U);
  EXPECT_EQ(message(kaccel, {most, 1}, key_), 0U);
  EXPECT_EQ(message(kaccel, {1, most, 5}, key_), 0U);
}

TEST_F(HmacContextTest, DoesTheSameMessageBySoftwareWhereTheDriverFails) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  kaccel.fake()->fail(FakeTransport::Step::crypt, kernel::Failure::driver_error);
  EXPECT_EQ(message(kaccel, {100, 200}, key_), 0U);
  EXPECT_EQ(kaccel.counter("fallbacks"), 1U);
  EXPECT_EQ(message(kaccel, {100, 200}, key_), 1U);
}

TEST_F(HmacContextTest, LoadsItsKeyOnceForCopiesAndRestarts) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const MacContext first = keyed(kaccel.library(), key_);
  Bytes expected;
  for (int i = 0; i < 20; ++i) {
    const MacContext copy(EVP_MAC_CTX_dup(first.get()));
    update(copy, 100);
    const Bytes result = finish(copy);
    if (i == 0) expected = result;
    EXPECT_EQ(result, expected);
    ASSERT_EQ(EVP_MAC_init(copy.get(), nullptr, 0, nullptr), 1);
    update(copy, 100);
    EXPECT_EQ(finish(copy), expected);
  }
  EXPECT_EQ(kaccel.counter("keys-loaded"), 1U);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 40U);
}

TEST_F(HmacContextTest, GoesOnInACopyWhereTheOriginalWas) {
  const KaccelUnderTest kaccel(settings_with_thresholds(100, 100));
  const MacContext own = keyed(kaccel.library(), key_);
  const MacContext reference = keyed(default_, key_);
  update(own, 90);
  update(reference, 90);
  const MacContext own_copy(EVP_MAC_CTX_dup(own.get()));
  const MacContext reference_copy(EVP_MAC_CTX_dup(reference.get()));
  update(own_copy, 500);
  update(reference_copy, 500);
  EXPECT_EQ(finish(own), finish(reference));
  EXPECT_EQ(finish(own_copy), finish(reference_copy));
  EXPECT_EQ(kaccel.counter("hardware-calls"), 1U);
}

// OpenSSL's answer to calls without meaning is the same whichever side ended the message.
TEST_F(HmacContextTest, GoesOnAfterTheEndAsOpenSslDoes) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const MacContext own = keyed(kaccel.library(), key_);
  const MacContext reference = keyed(default_, key_);
  for (const MacContext* context : {&own, &reference}) {
    update(*context, 100);
    finish(*context);
    update(*context, 10);
  }
  EXPECT_EQ(finish(own), finish(reference));
}

TEST_F(HmacContextTest, KeepsTlsRecordsInSoftware) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto mac_of_record = [&](const LibraryContext& library) {
    const MacContext context = keyed(library, key_, "SHA1");
    std::size_t size = 64;
    const std::array params{OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE, &size),
                            OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_MAC_CTX_set_params(context.get(), params.data()), 1);
    update(context, 13);
    update(context, 50);
    return finish(context);
  };
  EXPECT_EQ(mac_of_record(kaccel.library()), mac_of_record(default_));
  EXPECT_EQ(kaccel.counter("hardware-calls"), 0U);
}

// A digest that is named without a key takes effect when OpenSSL says so.
TEST_F(HmacContextTest, FollowsAChangeOfTheDigest) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const MacContext own = keyed(kaccel.library(), key_, "SHA256");
  const MacContext reference = keyed(default_, key_, "SHA256");
  std::string name = "SHA1";
  const std::array params{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), 0),
                          OSSL_PARAM_construct_end()};
  for (const MacContext* context : {&own, &reference}) {
    ASSERT_EQ(EVP_MAC_init(context->get(), nullptr, 0, params.data()), 1);
    update(*context, 100);
  }
  EXPECT_EQ(finish(own), finish(reference));
  for (const MacContext* context : {&own, &reference}) {
    ASSERT_EQ(EVP_MAC_init(context->get(), key_.data(), key_.size(), nullptr), 1);
    update(*context, 100);
  }
  EXPECT_EQ(finish(own), finish(reference));
}

// OpenSSL takes the digest before it refuses the size, and uses it with the next key.
TEST_F(HmacContextTest, FollowsTheDigestOfARefusedInit) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto result = [&](const LibraryContext& library) {
    const MacContext context = keyed(library, key_, "SHA512");
    std::string digest("SHA256");
    std::size_t no_size = 0;
    const std::array refused{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_TLS_DATA_SIZE, &no_size, sizeof no_size),
        OSSL_PARAM_construct_end()};
    const Bytes key(10, 0x22);
    EXPECT_EQ(EVP_MAC_init(context.get(), key.data(), key.size(), refused.data()), 0);
    EXPECT_EQ(EVP_MAC_init(context.get(), key.data(), key.size(), nullptr), 1);
    update(context, 977);
    return finish(context);
  };
  EXPECT_EQ(result(kaccel.library()), result(default_));
}

// OpenSSL takes the key before it refuses the size, and has begun a message under it.
TEST_F(HmacContextTest, FollowsTheKeyOfARefusedInitAfterAMessage) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto result = [&](const LibraryContext& library) {
    const MacContext context = keyed(library, key_);
    update(context, 12);
    finish(context);
    Bytes new_key(20, 0x22);
    std::size_t no_size = 0;
    // A size_t does not fit into what says that it is a string.
    const std::array refused{
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, new_key.data(), new_key.size()),
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_TLS_DATA_SIZE, &no_size, sizeof no_size),
        OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_MAC_init(context.get(), key_.data(), key_.size(), refused.data()), 0);
    return finish(context);
  };
  EXPECT_EQ(result(kaccel.library()), result(default_));
}

TEST_F(HmacContextTest, ServesHkdf) {
  const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
  const auto derive = [](const LibraryContext& library) {
    const std::unique_ptr<EVP_KDF, FreeMac> kdf(EVP_KDF_fetch(library.get(), "HKDF", nullptr));
    const std::unique_ptr<EVP_KDF_CTX, FreeMac> context(EVP_KDF_CTX_new(kdf.get()));
    std::string digest = "SHA256";
    Bytes secret(48, 1);
    Bytes salt(16, 2);
    Bytes purpose(100, 3);
    const std::array params{
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt.data(), salt.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, purpose.data(), purpose.size()),
        OSSL_PARAM_construct_end()};
    Bytes key(80);
    EXPECT_EQ(EVP_KDF_derive(context.get(), key.data(), key.size(), params.data()), 1);
    return key;
  };
  // A default provider beside kaccel, preferring kaccel's HMAC.
  const ProviderPointer beside(OSSL_PROVIDER_load(kaccel.library().get(), "default"));
  ASSERT_EQ(EVP_set_default_properties(kaccel.library().get(), "?provider=kaccel"), 1);
  EXPECT_EQ(derive(kaccel.library()), derive(default_));
  EXPECT_GT(kaccel.counter("hardware-calls"), 0U);
}

}  // namespace
}  // namespace kaccel::testing
