#include "kernel-bridge/discovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>

namespace kaccel::kernel {
namespace {

std::vector<Driver> drivers_of(const std::string& listing, const DriverFlags& flags = {}) {
  const auto text = read_text_file(KACCEL_TEST_DATA "/proc-crypto-" + listing + ".txt");
  return select_drivers(parse_proc_crypto(text), flags);
}

std::set<std::string> hardware_of(const std::vector<Driver>& drivers) {
  std::set<std::string> names;
  for (const auto& driver : drivers) {
    if (driver.hardness == Hardness::hardware) names.insert(driver.entry.driver);
  }
  return names;
}

TEST(SelectDrivers, FindsTheQceOfAnIpq4018) {
  const std::set<std::string> expected{
      "cbc-aes-qce", "ctr-aes-qce",  "ecb-aes-qce",  "xts-aes-qce",   "cbc-des-qce",
      "ecb-des-qce", "cbc-3des-qce", "ecb-3des-qce", "hmac-sha1-qce", "hmac-sha256-qce"};
  EXPECT_EQ(hardware_of(drivers_of("ipq4018-qce")), expected);
}

TEST(SelectDrivers, FindsTheEip93OfAnAn7581) {
  const std::set<std::string> expected{
      "cbc(aes-eip93)",   "ctr(aes-eip93)",      "ecb(aes-eip93)",      "cbc(des-eip93)",
      "ebc(des-eip93)",   "cbc(des3_ede-eip93)", "ecb(des3_ede-eip93)", "hmac(md5-eip93)",
      "hmac(sha1-eip93)", "hmac(sha224-eip93)",  "hmac(sha256-eip93)"};
  EXPECT_EQ(hardware_of(drivers_of("an7581-eip93")), expected);
}

TEST(SelectDrivers, FindsThePadlockOfAViaBox) {
  const std::set<std::string> expected{"cbc-aes-padlock", "ecb-aes-padlock"};
  EXPECT_EQ(hardware_of(drivers_of("via-padlock")), expected);
}

TEST(SelectDrivers, FindsTheVirtioDeviceOfAGuest) {
  const std::set<std::string> expected{"virtio_crypto_aes_cbc"};
  EXPECT_EQ(hardware_of(drivers_of("debian-6.1-virtio")), expected);
}

TEST(SelectDrivers, FindsNoHardwareOnAnX86WithAesni) {
  const auto drivers = drivers_of("debian-6.1-x86");
  EXPECT_TRUE(hardware_of(drivers).empty());
  EXPECT_FALSE(drivers.empty());
}

TEST(SelectDrivers, JoinsFlagsAndKnownRows) {
  const auto drivers = drivers_of("ipq4018-qce", {{"cbc-aes-qce", 0x11485}});
  const auto cbc = std::find_if(drivers.begin(), drivers.end(), [](const Driver& driver) {
    return driver.entry.driver == "cbc-aes-qce";
  });
  ASSERT_NE(cbc, drivers.end());
  EXPECT_EQ(cbc->flags, 0x11485u);
  EXPECT_EQ(cbc->algorithm, Algorithm::cbc_aes);
  EXPECT_EQ(cbc->known, find_known_driver("cbc-aes-qce"));
  EXPECT_STREQ(cbc->reason, "flag KERN_DRIVER_ONLY");
  for (const auto& driver : drivers) {
    if (driver.entry.driver != "cbc-aes-qce") {
      EXPECT_FALSE(driver.flags.has_value());
    }
  }
}

TEST(SelectDrivers, ReachesCiphersOfKernelsBefore55AndLeavesOutOtherTypes) {
  const auto of_type = [](const char* name, const char* type) {
    ProcCryptoEntry entry;
    entry.name = name;
    entry.driver = std::string("x-") + type;
    entry.type = type;
    return select_drivers({entry}, {}).size();
  };
  for (const char* type : {"skcipher", "ablkcipher", "blkcipher"}) {
    EXPECT_EQ(of_type("cbc(aes)", type), 1u) << type;
    EXPECT_EQ(of_type("hmac(sha1)", type), 0u) << type;
  }
  for (const char* type : {"ahash", "shash"}) {
    EXPECT_EQ(of_type("hmac(sha1)", type), 1u) << type;
    EXPECT_EQ(of_type("cbc(aes)", type), 0u) << type;
  }
  for (const char* type : {"lskcipher", "givcipher", "larval", "aead", "cipher", ""}) {
    EXPECT_EQ(of_type("cbc(aes)", type), 0u) << type;
  }
  EXPECT_EQ(of_type("gcm(aes)", "skcipher"), 0u);
}

TEST(SelectDrivers, ListsADriverOnceThatTheFileListedTwice) {
  ProcCryptoEntry entry;
  entry.name = "cbc(aes)";
  entry.driver = "cbc-aes-qce";
  entry.type = "skcipher";
  EXPECT_EQ(select_drivers({entry, entry}, {}).size(), 1u);
}

TEST(Discover, FindsNothingWithoutProcCrypto) {
  EXPECT_TRUE(discover(KACCEL_TEST_DATA "/no-such-file").empty());
}

TEST(Discover, ReadsThisMachineWhateverItsKernel) {
  EXPECT_NO_THROW(discover());
}

TEST(AfAlgAvailable, AnswersOnThisMachineWhateverItsKernel) {
  const auto status = af_alg_available();
  EXPECT_EQ(static_cast<bool>(status), status.error_number == 0);
}

class NamesTransport final : public Transport {
 public:
  std::map<std::string, int> opened;
  Status open(const char* driver, Algorithm, std::unique_ptr<Session>&) noexcept override {
    ++opened[driver];
    return std::string(driver) == "cbc-aes-qce" ? success : Status{Failure::no_driver, ENOENT};
  }
};

TEST(Probe, BindsTheDriversOwnName) {
  NamesTransport transport;
  for (const auto& driver : drivers_of("ipq4018-qce")) {
    const auto status = probe(transport, driver);
    EXPECT_EQ(static_cast<bool>(status), driver.entry.driver == "cbc-aes-qce");
    EXPECT_EQ(transport.opened[driver.entry.driver], 1);
  }
}

TEST(Probe, RefusesANameThatTheKernelWouldCutShort) {
  NamesTransport transport;
  auto driver = drivers_of("ipq4018-qce").front();
  for (const std::size_t length : {std::size_t{0}, std::size_t{64}}) {
    driver.entry.driver = std::string(length, 'x');
    EXPECT_EQ(probe(transport, driver).failure, Failure::no_driver);
  }
  EXPECT_TRUE(transport.opened.empty());
}

}  // namespace
}  // namespace kaccel::kernel
