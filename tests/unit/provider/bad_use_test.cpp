// Calls that OpenSSL refuses: kaccel refuses them too, with the same reason code, and leaves the
// context where OpenSSL leaves it. At threshold 0, after data that hardware has ciphered.

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

// What a call answered.
struct Answer {
  int result;
  int reason;  // of the newest error; 0 for none
  friend bool operator==(const Answer&, const Answer&) = default;
};

void PrintTo(const Answer& answer, std::ostream* out) {
  *out << answer.result << " (reason " << answer.reason << ")";
}

using Answers = std::vector<Answer>;

// One library context's side of a test.
class Side {
 public:
  explicit Side(const LibraryContext& library) : library_(library) {}

  Answers answers;

  void note(int result) {
    answers.push_back({result, ERR_GET_REASON(ERR_peek_last_error())});
    ERR_clear_error();
  }

  void start(const char* cipher, int encrypt) {
    cipher_ = fetch_cipher(library_, cipher);
    note(EVP_CipherInit_ex2(context_.get(), cipher_.get(), nullptr, nullptr, encrypt, nullptr));
  }
  void init(const Bytes& key, const Bytes& iv) {
    note(EVP_CipherInit_ex2(context_.get(), nullptr, key.empty() ? nullptr : key.data(),
                            iv.empty() ? nullptr : iv.data(), -1, nullptr));
  }
  void control(int command, int number, void* data = nullptr) {
    note(EVP_CIPHER_CTX_ctrl(context_.get(), command, number, data));
  }
  void set_size(const char* key, std::size_t value) {
    const std::array params{OSSL_PARAM_construct_size_t(key, &value), OSSL_PARAM_construct_end()};
    note(EVP_CIPHER_CTX_set_params(context_.get(), params.data()));
  }
  void update(std::size_t size) {
    const Bytes data(size, 0x5a);
    Bytes out(size + 32);
    int written = 0;
    note(EVP_CipherUpdate(context_.get(), out.data(), &written, data.data(),
                          static_cast<int>(size)));
  }
  void aad(std::size_t size) {
    const Bytes data(size, 0xa5);
    int written = 0;
    note(EVP_CipherUpdate(context_.get(), nullptr, &written, data.data(), static_cast<int>(size)));
  }
  void final() {
    std::array<std::uint8_t, 32> out{};
    int written = 0;
    note(EVP_CipherFinal_ex(context_.get(), out.data(), &written));
  }
  void padding(int on) { note(EVP_CIPHER_CTX_set_padding(context_.get(), on)); }

 private:
  const LibraryContext& library_;
  CipherPointer cipher_;
  CipherContextPointer context_{EVP_CIPHER_CTX_new()};
};

class BadUse : public ::testing::Test {
 protected:
  // Makes the same calls on both sides. The last one must be refused for `reason`.
  void expect_refusal(int reason, const std::function<void(Side&)>& calls) {
    Side own(kaccel_.library());
    Side reference(default_);
    ERR_clear_error();
    calls(own);
    calls(reference);
    EXPECT_EQ(own.answers, reference.answers);
    EXPECT_LE(reference.answers.back().result, 0) << "OpenSSL does not mind";
    EXPECT_EQ(reference.answers.back().reason, reason);
  }

  static Bytes different_bytes(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(3 * i + 1);
    return bytes;
  }

  const KaccelUnderTest kaccel_{settings_with_thresholds(0, 0)};
  const LibraryContext default_ = LibraryContext::with_default_provider();
  const Bytes key16_ = different_bytes(16);
  const Bytes key24_ = different_bytes(24);
  const Bytes key32_ = different_bytes(32);
  const Bytes iv_ = different_bytes(16);
};

// EVP passes the lengths that it knows to be right, so the provider's function is called itself.
Answer encrypt_init(OSSL_PROVIDER* provider, const char* cipher, std::size_t key_size,
                    std::size_t iv_size) {
  int no_cache = 0;
  const OSSL_ALGORITHM* row = OSSL_PROVIDER_query_operation(provider, OSSL_OP_CIPHER, &no_cache);
  const auto first_name = [](std::string_view names) { return names.substr(0, names.find(':')); };
  while (first_name(row->algorithm_names) != cipher) ++row;
  OSSL_FUNC_cipher_newctx_fn* newctx = nullptr;
  OSSL_FUNC_cipher_freectx_fn* freectx = nullptr;
  OSSL_FUNC_cipher_encrypt_init_fn* init = nullptr;
  for (const OSSL_DISPATCH* entry = row->implementation; entry->function_id != 0; ++entry) {
    if (entry->function_id == OSSL_FUNC_CIPHER_NEWCTX) newctx = OSSL_FUNC_cipher_newctx(entry);
    if (entry->function_id == OSSL_FUNC_CIPHER_FREECTX) freectx = OSSL_FUNC_cipher_freectx(entry);
    if (entry->function_id == OSSL_FUNC_CIPHER_ENCRYPT_INIT) {
      init = OSSL_FUNC_cipher_encrypt_init(entry);
    }
  }
  const Bytes key(200, 1);
  const Bytes iv(200, 2);
  void* context = newctx(OSSL_PROVIDER_get0_provider_ctx(provider));
  const int result = init(context, key.data(), key_size, iv.data(), iv_size, nullptr);
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  ERR_clear_error();
  freectx(context);
  return {result, reason};
}

TEST_F(BadUse, WrongKeyLength) {
  for (const char* name :
       {"AES-128-CBC", "AES-128-CTR", "AES-128-GCM", "DES-EDE3-CBC", "AES-256-XTS"}) {
    for (const std::size_t size : {0U, 8U, 17U, 33U, 100U}) {
      const Answer expected{0, PROV_R_INVALID_KEY_LENGTH};
      EXPECT_EQ(encrypt_init(kaccel_.library().provider(), name, size, name[0] == 'D' ? 8 : 16),
                expected)
          << name << " " << size;
      EXPECT_EQ(encrypt_init(default_.provider(), name, size, name[0] == 'D' ? 8 : 16), expected);
    }
  }
}

TEST_F(BadUse, WrongIvLength) {
  for (const char* name : {"AES-128-CBC", "AES-128-CTR", "AES-128-XTS"}) {
    const Answer expected{0, PROV_R_INVALID_IV_LENGTH};
    const std::size_t key_size = name[8] == 'X' ? 32 : 16;
    EXPECT_EQ(encrypt_init(kaccel_.library().provider(), name, key_size, 15), expected) << name;
    EXPECT_EQ(encrypt_init(default_.provider(), name, key_size, 15), expected) << name;
  }
  for (const int size : {0, 129, 1000}) {
    expect_refusal(PROV_R_INVALID_IV_LENGTH, [&](Side& side) {
      side.start("AES-128-GCM", 1);
      side.control(EVP_CTRL_AEAD_SET_IVLEN, size);
    });
  }
  expect_refusal(PROV_R_INVALID_IV_LENGTH, [&](Side& side) {
    side.start("AES-128-GCM", 1);
    side.init(key16_, iv_);
    side.update(1000);
    side.set_size(OSSL_CIPHER_PARAM_AEAD_IVLEN, 0);
  });
}

TEST_F(BadUse, TagMissingOrWrongOrTooLong) {
  Bytes tag(16, 1);
  expect_refusal(0, [&](Side& side) {
    side.start("AES-128-GCM", 0);
    side.init(key16_, iv_);
    side.update(1000);
    side.final();
  });
  expect_refusal(0, [&](Side& side) {
    side.start("AES-128-GCM", 0);
    side.init(key16_, iv_);
    side.update(1000);
    side.control(EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
    side.final();
  });
  for (const int size : {0, 17}) {
    expect_refusal(size == 0 ? PROV_R_INVALID_TAG : PROV_R_FAILED_TO_GET_PARAMETER,
                   [&](Side& side) {
                     side.start("AES-128-GCM", 0);
                     side.init(key16_, iv_);
                     side.update(1000);
                     std::array<std::uint8_t, 17> bytes{};
                     side.control(EVP_CTRL_AEAD_SET_TAG, size, bytes.data());
                   });
  }
  // A tag is not set while encrypting, and not there before the end.
  expect_refusal(PROV_R_INVALID_TAG, [&](Side& side) {
    side.start("AES-128-GCM", 1);
    side.init(key16_, iv_);
    side.update(1000);
    side.control(EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
  });
  expect_refusal(PROV_R_INVALID_TAG, [&](Side& side) {
    side.start("AES-128-GCM", 1);
    side.init(key16_, iv_);
    side.update(1000);
    side.control(EVP_CTRL_AEAD_GET_TAG, 16, tag.data());
  });
}

TEST_F(BadUse, AadAfterData) {
  expect_refusal(PROV_R_CIPHER_OPERATION_FAILED, [&](Side& side) {
    side.start("AES-256-GCM", 1);
    side.init(key32_, iv_);
    side.aad(20);
    side.update(1000);
    side.aad(20);
  });
}

TEST_F(BadUse, ANewMessageUnderAnOldIv) {
  expect_refusal(PROV_R_CIPHER_OPERATION_FAILED, [&](Side& side) {
    side.start("AES-256-GCM", 1);
    side.init(key32_, iv_);
    side.update(1000);
    side.final();
    side.update(1000);
  });
}

TEST_F(BadUse, NoKeyOrNoIv) {
  for (const char* name : {"AES-128-CBC", "AES-128-GCM", "AES-128-XTS"}) {
    SCOPED_TRACE(name);
    for (const bool has_key : {false, true}) {
      Side own(kaccel_.library());
      Side reference(default_);
      for (Side* side : {&own, &reference}) {
        side->start(name, 0);
        side->init(has_key ? key32_ : Bytes{}, has_key ? Bytes{} : iv_);
        side->update(1008);
      }
      EXPECT_EQ(own.answers, reference.answers);
    }
  }
}

TEST_F(BadUse, XtsBelowABlock) {
  expect_refusal(PROV_R_CIPHER_OPERATION_FAILED, [&](Side& side) {
    side.start("AES-128-XTS", 1);
    side.init(key32_, iv_);
    side.update(512);
    side.update(15);
  });
}

TEST_F(BadUse, XtsWithEqualHalves) {
  Bytes halves = key16_;
  halves.insert(halves.end(), key16_.begin(), key16_.end());
  expect_refusal(PROV_R_XTS_DUPLICATED_KEYS, [&](Side& side) {
    side.start("AES-128-XTS", 1);
    side.init(halves, iv_);
  });
}

TEST_F(BadUse, FinalOnAPartialBlock) {
  for (const char* name : {"AES-128-CBC", "AES-128-ECB", "DES-EDE3-CBC"}) {
    for (const int encrypt : {0, 1}) {
      SCOPED_TRACE(std::string(name) + (encrypt == 1 ? " encrypt" : " decrypt"));
      expect_refusal(PROV_R_WRONG_FINAL_BLOCK_LENGTH, [&](Side& side) {
        side.start(name, encrypt);
        side.init(key24_, iv_);
        side.padding(0);
        side.update(1000 + 3);
        side.final();
      });
    }
  }
}

TEST_F(BadUse, WrongPadding) {
  expect_refusal(PROV_R_BAD_DECRYPT, [&](Side& side) {
    side.start("AES-128-CBC", 0);
    side.init(key16_, iv_);
    side.update(1024);
    side.final();
  });
}

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

TEST_F(BadUse, MacWithoutAKeyOrADigest) {
  const auto answers = [](const LibraryContext& library, bool with_digest) {
    const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(library.get(), "HMAC", nullptr));
    const std::unique_ptr<EVP_MAC_CTX, FreeMac> context(EVP_MAC_CTX_new(mac.get()));
    std::string digest = "SHA256";
    const std::array params{
        with_digest ? OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0)
                    : OSSL_PARAM_construct_end(),
        OSSL_PARAM_construct_end()};
    Answers result;
    const auto note = [&result](int answer) {
      result.push_back({answer, ERR_GET_REASON(ERR_peek_last_error())});
      ERR_clear_error();
    };
    Bytes data(100, 1);
    std::array<std::uint8_t, 64> out{};
    std::size_t size = 0;
    note(EVP_MAC_init(context.get(), nullptr, 0, params.data()));
    note(EVP_MAC_update(context.get(), data.data(), data.size()));
    note(EVP_MAC_final(context.get(), out.data(), &size, out.size()));
    if (!with_digest) note(EVP_MAC_init(context.get(), data.data(), 16, nullptr));
    return result;
  };
  for (const bool with_digest : {false, true}) {
    const Answers reference = answers(default_, with_digest);
    EXPECT_EQ(answers(kaccel_.library(), with_digest), reference);
    EXPECT_EQ(reference.front().result, 0);
  }
}

}  // namespace
}  // namespace kaccel::testing
