// All known answers, while the driver fails: at opening, at the key, at one of the requests, in
// each way, with anything left in the output. The answers are the known ones all the same.
//
// Each record meets one fault in each direction (GCM's long files: every 25th record).
// KACCEL_FAULTS=few: of these every fifth; KACCEL_FAULTS=all: every record, all of them.

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "expected_route.hpp"
#include "fault_injection.hpp"
#include "gcm_passage.hpp"
#include "hmac_passage.hpp"
#include "known_answers.hpp"
#include "passage.hpp"
#include "python_vectors.hpp"
#include "tests/support/evp.hpp"
#include "thresholds.hpp"
#include "vector_files.hpp"
#include "wycheproof.hpp"

namespace kaccel::vectors {
namespace {

using kaccel::testing::fetch_cipher;
using kaccel::testing::LibraryContext;

// Never comes out of this; the others do at least once in a file with a message that long.
constexpr std::array fault_thresholds{always_hardware, Threshold{16}};

template <class Passages>
const auto& one_of(const Passages& passages, std::size_t number) {
  return passages[number % passages.size()];
}

struct CipherAnswer {
  const char* algorithm;
  bool padding;
  const KnownAnswer& answer;
};

void check_cipher(FaultInjection& injection, const CipherAnswer& wanted,
                  const std::vector<Passage>& passages) {
  const KnownAnswer& answer = wanted.answer;
  for (const bool encrypt : {true, false}) {
    if (encrypt && answer.refused) continue;
    const Passage& passage = one_of(passages, injection.passages());
    SCOPED_TRACE((encrypt ? "encrypted " : "decrypted ") + describe(passage));
    injection.run([&](const LibraryContext& library) {
      const auto cipher = fetch_cipher(library, wanted.algorithm);
      ASSERT_NE(cipher, nullptr);
      const Bytes& input = encrypt ? answer.plaintext : answer.ciphertext;
      const Bytes& expected = encrypt ? answer.ciphertext : answer.plaintext;
      const Bytes before = input;
      const Outcome outcome =
          pass({cipher.get(), encrypt, wanted.padding, answer.key, answer.iv, input}, passage);
      EXPECT_EQ(outcome.ok, !answer.refused);
      EXPECT_EQ(take_error() == "", !answer.refused);
      EXPECT_EQ(input, before);
      if (!answer.refused) {
        EXPECT_EQ(outcome.output, expected);
      }
    });
  }
}

void check_gcm(FaultInjection& injection, const char* algorithm, const KnownAnswer& answer) {
  constexpr std::size_t longest_iv = 128;
  if (answer.iv.empty() || answer.iv.size() > longest_iv) return;  // refused before any data
  for (const bool encrypt : {true, false}) {
    if (encrypt && (answer.refused || answer.plaintext.size() != answer.ciphertext.size()))
      continue;
    const GcmPassage& passage = one_of(gcm_passages(), injection.passages());
    SCOPED_TRACE((encrypt ? "sealed " : "opened ") + describe(passage));
    injection.run([&](const LibraryContext& library) {
      const auto cipher = fetch_cipher(library, algorithm);
      ASSERT_NE(cipher, nullptr);
      const Bytes& text = encrypt ? answer.plaintext : answer.ciphertext;
      const GcmMessage message{cipher.get(), answer.key, answer.iv, answer.aad, text, answer.tag};
      const GcmOutcome outcome = encrypt ? seal(message, passage) : open(message, passage);
      EXPECT_EQ(outcome.ok, !answer.refused);
      const std::string error = take_error();
      if (answer.refused) return;
      EXPECT_EQ(error, "");
      EXPECT_EQ(outcome.text, encrypt ? answer.ciphertext : answer.plaintext);
      if (encrypt) {
        EXPECT_EQ(outcome.tag, answer.tag);
      }
    });
  }
}

void check_hmac(FaultInjection& injection, const char* digest, const KnownAnswer& answer) {
  const HmacPassage& passage = one_of(hmac_passages(), injection.passages());
  SCOPED_TRACE(describe(passage));
  injection.run([&](const LibraryContext& library) {
    const MacPointer mac = fetch_hmac(library);
    ASSERT_NE(mac, nullptr);
    for (Bytes result : pass({mac.get(), digest, answer.key, answer.plaintext}, passage)) {
      ASSERT_GE(result.size(), answer.tag.size());
      result.resize(answer.tag.size());
      EXPECT_EQ(result == answer.tag, !answer.refused);
    }
    EXPECT_EQ(take_error(), "");
  });
}

// Python's files ----------------------------------------------------------------------------------

template <std::size_t size>
void add(std::vector<Case>& all, const VectorFile (&files)[size]) {
  for (const VectorFile& file : files) {
    for (const Threshold threshold : fault_thresholds) all.push_back({file, threshold});
  }
}

std::vector<Case> cases_with_faults() {
  std::vector<Case> all;
  add(all, aes_files);
  add(all, triple_des_files);
  add(all, xts_files);
  add(all, hmac_files);
  for (const GcmFile& gcm : gcm_files) all.push_back({gcm.file, always_hardware});
  if (kaccel::testing::has_legacy_provider()) add(all, single_des_files);
  return all;
}

bool is(const VectorFile& file, const char* mode) {
  return std::string_view(file.algorithm).find(mode) != std::string_view::npos;
}

class FaultsInVectors : public ::testing::TestWithParam<Case> {};

TEST_P(FaultsInVectors, are_answered_by_software) {
  const auto& [file, threshold] = GetParam();
  const auto path = python_file(file);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_python_vectors(path);
  const bool is_gcm = is(file, "GCM");
  const std::size_t step = records_apart(is_gcm ? 25 : 1);
  FaultInjection injection(file.algorithm, threshold);
  std::size_t number = 0;
  std::size_t run = 0;
  for (KnownAnswer answer : read_known_answers(path.string())) {
    if (number++ % step != 0 || (is(file, "XTS") && answer.bits % 8 != 0)) continue;
    SCOPED_TRACE(path.string() + ":" + std::to_string(answer.line));
    answer.key = key_of(file, answer);
    if (is_gcm) {
      check_gcm(injection, file.algorithm, answer);
    } else if (is(file, "HMAC")) {
      check_hmac(injection, file.algorithm + std::string_view("HMAC-").size(), answer);
    } else {
      check_cipher(injection, {file.algorithm, false, answer},
                   is(file, "XTS") ? uncut_passages() : all_passages());
    }
    ++run;
    if (HasFailure()) break;
  }
  EXPECT_EQ(run, (file.records + step - 1) / step);
  injection.finish(file.path);
}

INSTANTIATE_TEST_SUITE_P(Python, FaultsInVectors, ::testing::ValuesIn(cases_with_faults()),
                         case_name);

// Wycheproof's ------------------------------------------------------------------------------------

class FaultsInWycheproof : public ::testing::TestWithParam<Threshold> {
 protected:
  // Groups are many and small: those of one algorithm go on with each other's faults.
  FaultInjection& injection(const std::string& algorithm) {
    return injections_.try_emplace(algorithm, algorithm.c_str(), GetParam()).first->second;
  }
  void TearDown() override {
    for (const auto& [algorithm, injection] : injections_) {
      EXPECT_GE(injection.injected(), 10U) << algorithm;
      injection.finish("Wycheproof");
    }
  }

 private:
  std::map<std::string, FaultInjection> injections_;
};

TEST_P(FaultsInWycheproof, cbc_with_padding_are_answered_by_software) {
  const auto path = wycheproof_file("aes_cbc_pkcs5_test.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
  for (const auto& group : read_test_groups(path)) {
    const std::string algorithm = "AES-" + group.at("keySize").dump() + "-CBC";
    for (const auto& test : group.at("tests")) {
      SCOPED_TRACE("tcId " + test.at("tcId").dump());
      const KnownAnswer answer = answer_of(test);
      check_cipher(injection(algorithm), {algorithm.c_str(), true, answer}, all_passages());
    }
  }
}

TEST_P(FaultsInWycheproof, gcm_are_answered_by_software) {
  const auto path = wycheproof_file("aes_gcm_test.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
  for (const auto& group : read_test_groups(path)) {
    const std::string algorithm = "AES-" + group.at("keySize").dump() + "-GCM";
    for (const auto& test : group.at("tests")) {
      SCOPED_TRACE("tcId " + test.at("tcId").dump());
      check_gcm(injection(algorithm), algorithm.c_str(), answer_of(test));
    }
  }
}

TEST_P(FaultsInWycheproof, xts_are_answered_by_software) {
  const auto path = wycheproof_file("aes_xts_test.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
  for (const auto& group : read_test_groups(path)) {
    const int key_bits = group.at("keySize");
    if (key_bits == 384) continue;  // OpenSSL has no AES-192-XTS
    const std::string algorithm = "AES-" + std::to_string(key_bits / 2) + "-XTS";
    for (const auto& test : group.at("tests")) {
      SCOPED_TRACE("tcId " + test.at("tcId").dump());
      KnownAnswer answer = answer_of(test);
      answer.iv.resize(16);  // a short one is a number, lowest byte first
      check_cipher(injection(algorithm), {algorithm.c_str(), false, answer}, uncut_passages());
    }
  }
}

TEST_P(FaultsInWycheproof, hmac_are_answered_by_software) {
  for (const char* digest : {"SHA1", "SHA224", "SHA256", "SHA384", "SHA512"}) {
    std::string name = digest;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto path = wycheproof_file("hmac_" + name + "_test.json");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << how_to_get_wycheproof(path);
    for (const auto& group : read_test_groups(path)) {
      for (const auto& test : group.at("tests")) {
        SCOPED_TRACE("tcId " + test.at("tcId").dump());
        check_hmac(injection(std::string("HMAC-") + digest), digest, answer_of(test));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultsInWycheproof, ::testing::ValuesIn(fault_thresholds),
                         [](const auto& instance) { return threshold_name(instance.param); });

}  // namespace
}  // namespace kaccel::vectors
