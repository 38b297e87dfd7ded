// The tables kaccel hands to OpenSSL.

#include <gtest/gtest.h>
#include <openssl/core_dispatch.h>
#include <openssl/err.h>
#include <openssl/provider.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

const OSSL_ALGORITHM* find(OSSL_PROVIDER* provider, std::string_view name) {
  int no_cache = 0;
  const OSSL_ALGORITHM* row = OSSL_PROVIDER_query_operation(provider, OSSL_OP_CIPHER, &no_cache);
  for (; row != nullptr && row->algorithm_names != nullptr; ++row) {
    const std::string_view names(row->algorithm_names);
    if (names.substr(0, names.find(':')) == name) return row;
  }
  return nullptr;
}

using Function = void (*)();

Function function(const OSSL_ALGORITHM* row, int id) {
  for (const OSSL_DISPATCH* entry = row->implementation; entry->function_id != 0; ++entry) {
    if (entry->function_id == id) return entry->function;
  }
  return nullptr;
}

constexpr std::array functions_on_data{
    OSSL_FUNC_CIPHER_ENCRYPT_INIT,   OSSL_FUNC_CIPHER_DECRYPT_INIT, OSSL_FUNC_CIPHER_UPDATE,
    OSSL_FUNC_CIPHER_FINAL,          OSSL_FUNC_CIPHER_CIPHER,       OSSL_FUNC_CIPHER_FREECTX,
    OSSL_FUNC_CIPHER_DUPCTX,         OSSL_FUNC_CIPHER_GET_PARAMS,   OSSL_FUNC_CIPHER_GET_CTX_PARAMS,
    OSSL_FUNC_CIPHER_SET_CTX_PARAMS,
};

Settings only(const char* algorithm, const char* driver, Threshold encrypt, Threshold decrypt) {
  Settings settings;
  settings.algorithms.at(find_algorithm(algorithm)) = {driver, encrypt, decrypt, {}, false};
  return settings;
}

// Single DES is offered only where it has a route.
std::vector<Algorithm> ciphers_always_there() {
  std::vector<Algorithm> rows;
  for (const Algorithm& row : algorithm_table) {
    if (!is_mac(row) && row.key_size != 8) rows.push_back(row);
  }
  return rows;
}

class DispatchTest : public ::testing::Test {
 protected:
  // Whether calls of the algorithm run the default provider's own code from the first instruction.
  bool is_the_defaults_own(const KaccelUnderTest& kaccel, const char* algorithm) const {
    const OSSL_ALGORITHM* own = find(kaccel.library().provider(), algorithm);
    const OSSL_ALGORITHM* reference = find(default_.provider(), algorithm);
    if (own == nullptr || reference == nullptr) return false;
    std::size_t same = 0;
    for (const int id : functions_on_data) {
      if (function(own, id) == function(reference, id)) ++same;
    }
    const auto all = static_cast<std::size_t>(
        std::count_if(functions_on_data.begin(), functions_on_data.end(),
                      [&](int id) { return function(reference, id) != nullptr; }));
    // CIPHER_GET_PARAMS takes no context, so it is never replaced.
    EXPECT_TRUE(same == functions_on_data.size() || same == functions_on_data.size() - all + 1)
        << same;
    return same == functions_on_data.size();
  }

  const LibraryContext default_ = LibraryContext::with_default_provider();
};

TEST_F(DispatchTest, LeavesAnAlgorithmWithoutARouteToTheDefaultProvidersFunctions) {
  const KaccelUnderTest kaccel(only("AES-128-CBC", "fake", 512, 512));
  for (const Algorithm& algorithm : ciphers_always_there()) {
    EXPECT_EQ(is_the_defaults_own(kaccel, algorithm.name),
              std::string_view(algorithm.name) != "AES-128-CBC")
        << algorithm.name;
  }
}

TEST_F(DispatchTest, HasARouteWhereOneDirectionHas) {
  EXPECT_FALSE(
      is_the_defaults_own(KaccelUnderTest(only("AES-128-CBC", "fake", -1, 512)), "AES-128-CBC"));
  EXPECT_TRUE(
      is_the_defaults_own(KaccelUnderTest(only("AES-128-CBC", "fake", -1, -1)), "AES-128-CBC"));
}

TEST_F(DispatchTest, HasNoRouteForAKeySizeTheDriverRefuses) {
  EXPECT_TRUE(is_the_defaults_own(KaccelUnderTest(only("AES-192-CBC", "cbc-aes-qce", 0, 0)),
                                  "AES-192-CBC"));
  EXPECT_FALSE(is_the_defaults_own(KaccelUnderTest(only("AES-256-CBC", "cbc-aes-qce", 0, 0)),
                                   "AES-256-CBC"));
}

TEST_F(DispatchTest, ObeysAForcedThresholdWhereThereIsADriver) {
  Settings never = only("AES-128-CBC", "fake", 512, 512);
  never.force_threshold = never_hardware;
  EXPECT_TRUE(is_the_defaults_own(KaccelUnderTest(never), "AES-128-CBC"));
  Settings always = only("AES-128-CBC", "fake", -1, -1);
  always.force_threshold = always_hardware;
  const KaccelUnderTest kaccel(always);
  EXPECT_FALSE(is_the_defaults_own(kaccel, "AES-128-CBC"));
  EXPECT_TRUE(is_the_defaults_own(kaccel, "AES-256-CBC"));
}

TEST_F(DispatchTest, OffersEachAlgorithmUnderTheDefaultProvidersNames) {
  const KaccelUnderTest kaccel(only("AES-128-CBC", "fake", 512, 512));
  for (const Algorithm& algorithm : ciphers_always_there()) {
    const OSSL_ALGORITHM* own = find(kaccel.library().provider(), algorithm.name);
    const OSSL_ALGORITHM* reference = find(default_.provider(), algorithm.name);
    ASSERT_NE(own, nullptr) << algorithm.name;
    ASSERT_NE(reference, nullptr);
    EXPECT_STREQ(own->algorithm_names, reference->algorithm_names);
    EXPECT_STREQ(own->property_definition, "provider=kaccel");
    EXPECT_NE(fetch_cipher(kaccel.library(), algorithm.name), nullptr);
  }
  EXPECT_NE(fetch_cipher(kaccel.library(), "AES128"), nullptr);
  EXPECT_NE(fetch_cipher(kaccel.library(), "2.16.840.1.101.3.4.1.2"), nullptr);
}

TEST_F(DispatchTest, OffersNothingElse) {
  const KaccelUnderTest kaccel(only("AES-128-CBC", "fake", 512, 512));
  int no_cache = 0;
  OSSL_PROVIDER* provider = kaccel.library().provider();
  for (const int operation : {OSSL_OP_DIGEST, OSSL_OP_KDF, OSSL_OP_RAND, OSSL_OP_KEYMGMT}) {
    EXPECT_EQ(OSSL_PROVIDER_query_operation(provider, operation, &no_cache), nullptr);
  }
  ERR_set_mark();
  EXPECT_EQ(fetch_cipher(kaccel.library(), "AES-128-CCM"), nullptr);
  ERR_pop_to_mark();
}

TEST_F(DispatchTest, ListsTheSameParametersAsTheDefaultProvider) {
  const auto names = [](const OSSL_PARAM* params) {
    std::string text;
    for (; params != nullptr && params->key != nullptr; ++params) {
      text += std::string(params->key) + " ";
    }
    return text;
  };
  const KaccelUnderTest kaccel(only("AES-128-CBC", "fake", 512, 512));
  for (const Algorithm& algorithm : ciphers_always_there()) {
    const CipherPointer own = fetch_cipher(kaccel.library(), algorithm.name);
    const CipherPointer reference = fetch_cipher(default_, algorithm.name);
    EXPECT_EQ(names(EVP_CIPHER_gettable_params(own.get())),
              names(EVP_CIPHER_gettable_params(reference.get())));
    EXPECT_EQ(names(EVP_CIPHER_gettable_ctx_params(own.get())),
              names(EVP_CIPHER_gettable_ctx_params(reference.get())));
    EXPECT_EQ(names(EVP_CIPHER_settable_ctx_params(own.get())),
              names(EVP_CIPHER_settable_ctx_params(reference.get())));
    const CipherContextPointer context(EVP_CIPHER_CTX_new());
    ASSERT_EQ(EVP_EncryptInit_ex2(context.get(), own.get(), nullptr, nullptr, nullptr), 1);
    EXPECT_EQ(names(EVP_CIPHER_CTX_gettable_params(context.get())),
              names(EVP_CIPHER_gettable_ctx_params(reference.get())));
  }
}

}  // namespace
}  // namespace kaccel::testing
