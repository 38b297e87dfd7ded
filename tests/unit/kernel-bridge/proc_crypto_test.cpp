#include "kernel-bridge/proc_crypto.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace kaccel::kernel {
namespace {

constexpr std::string_view one_entry =
    "name         : cbc(aes)\n"
    "driver       : cbc-aes-qce\n"
    "module       : qcrypto\n"
    "priority     : 300\n"
    "refcnt       : 1\n"
    "selftest     : passed\n"
    "internal     : no\n"
    "type         : skcipher\n"
    "async        : yes\n"
    "blocksize    : 16\n"
    "min keysize  : 16\n"
    "max keysize  : 32\n"
    "ivsize       : 16\n"
    "\n";

std::vector<ProcCryptoEntry> parse(const std::string& text) {
  return parse_proc_crypto(text);
}

TEST(ProcCrypto, ReadsEveryFieldOfAnEntry) {
  const auto entries = parse_proc_crypto(one_entry);
  ASSERT_EQ(entries.size(), 1u);
  const auto& entry = entries[0];
  EXPECT_EQ(entry.name, "cbc(aes)");
  EXPECT_EQ(entry.driver, "cbc-aes-qce");
  EXPECT_EQ(entry.module, "qcrypto");
  EXPECT_EQ(entry.type, "skcipher");
  EXPECT_EQ(entry.priority, 300);
  EXPECT_TRUE(entry.async);
  EXPECT_FALSE(entry.internal);
  EXPECT_TRUE(entry.selftest_passed);
  EXPECT_EQ(entry.min_key_size, 16u);
  EXPECT_EQ(entry.max_key_size, 32u);
}

TEST(ProcCrypto, GivesNothingForAnEmptyFile) {
  EXPECT_TRUE(parse_proc_crypto("").empty());
}

TEST(ProcCrypto, DropsATruncatedLastEntryWhereverItIsCut) {
  const std::string whole(one_entry);
  // Every cut of a second entry, up to the one that only lacks the closing blank line.
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(parse(whole + whole.substr(0, length)).size(), 1u) << "cut at " << length;
  }
  EXPECT_EQ(parse(whole + whole).size(), 2u);
}

TEST(ProcCrypto, SkipsFieldsItDoesNotKnow) {
  const auto entries = parse(
      "name         : cbc(aes)\n"
      "driver       : cbc-aes-new\n"
      "fips         : yes\n"
      "statesize    : 0\n"
      "a line without a separator\n"
      "future field : 1 : 2\n"
      "type         : skcipher\n"
      "\n");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].driver, "cbc-aes-new");
  EXPECT_EQ(entries[0].type, "skcipher");
}

TEST(ProcCrypto, KeepsDefaultsWhereNumbersAreNot) {
  const auto entries = parse(
      "name         : a\n"
      "driver       : b\n"
      "priority     : 99999999999\n"
      "min keysize  : -1\n"
      "max keysize  : 16 bytes\n"
      "\n");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].priority, 0);
  EXPECT_EQ(entries[0].min_key_size, 0u);
  EXPECT_EQ(entries[0].max_key_size, 0u);
}

TEST(ProcCrypto, ReadsANegativePriority) {
  const auto entries = parse("name : a\ndriver : b\npriority : -1\n\n");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].priority, -1);
}

TEST(ProcCrypto, IgnoresEntriesWithoutNameOrDriver) {
  EXPECT_TRUE(parse("name : a\n\ndriver : b\n\n\n\n").empty());
}

TEST(ProcCrypto, DoesNotCarryFieldsIntoTheNextEntry) {
  const auto entries =
      parse("name : a\ndriver : b\nasync : yes\ninternal : yes\n\nname : c\ndriver : d\n\n");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_FALSE(entries[1].async);
  EXPECT_FALSE(entries[1].internal);
  EXPECT_TRUE(entries[1].type.empty());
}

struct Listing {
  const char* file;
  std::size_t entries;
};

// Or the test's name would hold the bytes of a pointer.
void PrintTo(const Listing& listing, std::ostream* out) {
  *out << listing.file;
}

class ProcCryptoListing : public testing::TestWithParam<Listing> {};

TEST_P(ProcCryptoListing, IsReadWhole) {
  const auto text = read_text_file(std::string(KACCEL_TEST_DATA "/") + GetParam().file);
  const auto entries = parse_proc_crypto(text);
  EXPECT_EQ(entries.size(), GetParam().entries);
  for (const auto& entry : entries) EXPECT_FALSE(entry.type.empty()) << entry.driver;
}

INSTANTIATE_TEST_SUITE_P(Machines, ProcCryptoListing,
                         testing::Values(Listing{"proc-crypto-ipq4018-qce.txt", 34},
                                         Listing{"proc-crypto-an7581-eip93.txt", 34},
                                         Listing{"proc-crypto-via-padlock.txt", 13},
                                         Listing{"proc-crypto-debian-6.1-x86.txt", 80},
                                         Listing{"proc-crypto-debian-6.1-virtio.txt", 73}));

TEST(ReadTextFile, GivesAnEmptyTextForAFileThatIsNotThere) {
  EXPECT_EQ(read_text_file(KACCEL_TEST_DATA "/no-such-file"), "");
}

TEST(ReadTextFile, GivesAnEmptyTextForADirectory) {
  EXPECT_EQ(read_text_file(KACCEL_TEST_DATA), "");
}

TEST(ReadTextFile, ReadsAFileWithoutASizeLikeProcfs) {
  EXPECT_NE(read_text_file("/proc/self/status").find("Pid:"), std::string::npos);
}

TEST(ReadTextFile, StopsAtALimitInsteadOfReadingADeviceForEver) {
  EXPECT_LE(read_text_file("/dev/zero").size(), std::size_t{8} << 20);
}

}  // namespace
}  // namespace kaccel::kernel
