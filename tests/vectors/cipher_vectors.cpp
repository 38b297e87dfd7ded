#include "cipher_vectors.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "expected_route.hpp"
#include "known_answers.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::vectors {

void check_cipher_vectors(const Case& instance, const Settings& settings,
                          const std::vector<Passage>& passages) {
  const auto& [file, threshold] = instance;
  const std::string path = python_file(file).string();
  const std::vector<KnownAnswer> answers = read_known_answers(path);
  const kaccel::testing::KaccelUnderTest kaccel(settings);
  const auto cipher = kaccel::testing::fetch_cipher(kaccel.library(), file.algorithm);
  ASSERT_NE(cipher, nullptr);
  const bool stealing = settings.algorithms.at(find_algorithm(file.algorithm)).ciphertext_stealing;

  std::size_t records_run = 0;
  std::size_t records_left_out = 0;
  for (const KnownAnswer& answer : answers) {
    if (answer.bits % 8 != 0) {
      ++records_left_out;
      continue;
    }
    const Bytes key = key_of(file, answer);
    const bool due =
        goes_to_hardware({file.algorithm, threshold, answer.plaintext.size(), key, stealing});
    for (const bool encrypt : {true, false}) {
      const Bytes& input = encrypt ? answer.plaintext : answer.ciphertext;
      const Bytes& expected = encrypt ? answer.ciphertext : answer.plaintext;
      for (const Passage& passage : passages) {
        SCOPED_TRACE(path + ":" + std::to_string(answer.line) +
                     (encrypt ? ", encrypted " : ", decrypted ") + describe(passage));
        const std::uint64_t calls_before = kaccel.counter("hardware-calls");
        const Outcome outcome =
            pass({cipher.get(), encrypt, false, key, answer.iv, input}, passage);
        EXPECT_TRUE(outcome.ok);
        EXPECT_EQ(outcome.output, expected);
        EXPECT_EQ(take_error(), "");
        const std::uint64_t calls = kaccel.counter("hardware-calls") - calls_before;
        if (passage.chunks == Chunks::one) {
          EXPECT_EQ(calls, due ? 1U : 0U);
        }
        if (!due) {
          EXPECT_EQ(calls, 0U);
        }
      }
    }
    ++records_run;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(records_run, file.records);
  EXPECT_EQ(records_left_out, file.left_out);
  expect_clean_run(kaccel);
  std::printf(
      "%s, %s: %zu vectors, %zu left out, %zu passages each, %llu calls answered by hardware\n",
      file.path, file.algorithm, records_run, records_left_out, 2 * passages.size(),
      static_cast<unsigned long long>(kaccel.counter("hardware-calls")));
}

}  // namespace kaccel::vectors
