#include "kernel-bridge/crypto_netlink.hpp"

#include <gtest/gtest.h>
#include <linux/cryptouser.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace kaccel::kernel {
namespace {

constexpr std::uint32_t sequence = 7;
constexpr std::uint32_t port = 42;

// A datagram as the kernel's dump sends them.
class Datagram {
 public:
  Datagram& driver(const std::string& name, std::uint32_t flags) {
    crypto_user_alg algorithm{};
    name.copy(algorithm.cru_driver_name, sizeof(algorithm.cru_driver_name));
    algorithm.cru_flags = flags;
    return message(CRYPTO_MSG_GETALG, &algorithm, sizeof(algorithm));
  }
  Datagram& done() {
    const int zero = 0;
    return message(NLMSG_DONE, &zero, sizeof(zero));
  }
  Datagram& error(int number) {
    nlmsgerr payload{};
    payload.error = -number;
    return message(NLMSG_ERROR, &payload, sizeof(payload));
  }
  Datagram& message(std::uint16_t type, const void* payload, std::size_t size) {
    const std::size_t start = bytes_.size();
    bytes_.resize(start + NLMSG_HDRLEN + NLMSG_ALIGN(size));
    nlmsghdr header{};
    header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + size);
    header.nlmsg_type = type;
    header.nlmsg_flags = NLM_F_MULTI;
    header.nlmsg_seq = sequence;
    header.nlmsg_pid = port;
    std::memcpy(bytes_.data() + start, &header, sizeof(header));
    std::memcpy(bytes_.data() + start + NLMSG_HDRLEN, payload, size);
    return *this;
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

TEST(CryptoNetlink, CollectsDriversUntilTheDumpIsDone) {
  DriverFlags flags;
  Datagram first;
  first.driver("cbc-aes-qce", 0x11485).driver("cbc-aes-aesni", 0x485);
  EXPECT_EQ(parse_dump_datagram(first.bytes(), sequence, port, flags), DumpState::more);
  Datagram last;
  last.driver("cbc(aes-generic)", 0xc05).done();
  EXPECT_EQ(parse_dump_datagram(last.bytes(), sequence, port, flags), DumpState::done);
  const DriverFlags expected{
      {"cbc-aes-qce", 0x11485}, {"cbc-aes-aesni", 0x485}, {"cbc(aes-generic)", 0xc05}};
  EXPECT_EQ(flags, expected);
}

TEST(CryptoNetlink, SkipsLarvals) {
  DriverFlags flags;
  Datagram datagram;
  datagram.driver("cbc-aes-qce", 0x11485).driver("cbc-aes-qce", crypto_flag::larval).done();
  EXPECT_EQ(parse_dump_datagram(datagram.bytes(), sequence, port, flags), DumpState::done);
  EXPECT_EQ(flags, (DriverFlags{{"cbc-aes-qce", 0x11485}}));
}

TEST(CryptoNetlink, SkipsMessagesThatAreTooShortAndNamesThatAreEmpty) {
  DriverFlags flags;
  Datagram datagram;
  const char few[8] = "few";
  datagram.message(CRYPTO_MSG_GETALG, few, sizeof(few)).driver("", 0x80).driver("a", 1).done();
  EXPECT_EQ(parse_dump_datagram(datagram.bytes(), sequence, port, flags), DumpState::done);
  EXPECT_EQ(flags, (DriverFlags{{"a", 1}}));
}

TEST(CryptoNetlink, ReadsANameWithoutATerminatorNoFurtherThanItsField) {
  DriverFlags flags;
  Datagram datagram;
  datagram.driver(std::string(CRYPTO_MAX_NAME, 'n'), 1).done();
  EXPECT_EQ(parse_dump_datagram(datagram.bytes(), sequence, port, flags), DumpState::done);
  EXPECT_EQ(flags, (DriverFlags{{std::string(CRYPTO_MAX_NAME, 'n'), 1}}));
}

TEST(CryptoNetlink, KeepsWhatCameBeforeAnError) {
  DriverFlags flags;
  Datagram datagram;
  datagram.driver("a", 1).error(EMSGSIZE);
  EXPECT_EQ(parse_dump_datagram(datagram.bytes(), sequence, port, flags), DumpState::failed);
  EXPECT_EQ(flags.size(), 1u);
}

TEST(CryptoNetlink, RefusesAnswersToSomeoneElsesQuestion) {
  DriverFlags flags;
  Datagram datagram;
  datagram.driver("a", 1).done();
  EXPECT_EQ(parse_dump_datagram(datagram.bytes(), sequence + 1, port, flags), DumpState::failed);
  EXPECT_EQ(parse_dump_datagram(datagram.bytes(), sequence, port + 1, flags), DumpState::failed);
  EXPECT_TRUE(flags.empty());
}

TEST(CryptoNetlink, StandsADatagramCutAnywhere) {
  Datagram datagram;
  datagram.driver("a", 1).driver("b", 2).done();
  const auto whole = datagram.bytes();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    DriverFlags flags;
    // A buffer of its own, so that a sanitizer sees a read beyond the cut.
    const std::vector<std::uint8_t> cut(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(length));
    parse_dump_datagram(cut, sequence, port, flags);
    EXPECT_LE(flags.size(), 2u);
  }
}

TEST(CryptoNetlink, AnswersOnThisMachineWhateverItsKernel) {
  for (const auto& [driver, flags] : read_driver_flags()) {
    EXPECT_FALSE(driver.empty());
    EXPECT_EQ(flags & crypto_flag::larval, 0u);
  }
}

}  // namespace
}  // namespace kaccel::kernel
