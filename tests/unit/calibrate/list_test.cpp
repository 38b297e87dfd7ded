#include "calibrate/list.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fake_driver.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Algorithm;
using kernel::Hardness;

std::string listing(const Machine& machine, bool json = false) {
  std::ostringstream out;
  EXPECT_EQ(list({json}, machine, out), 0);
  return out.str();
}

TEST(List, ShowsHardwareFirstAndWhatIsKnownOfIt) {
  FakeTransport transport("cbc-aes-qce");
  const auto machine = make_machine(
      transport, {make_driver("cbc-aes-generic", Algorithm::cbc_aes, Hardness::software, 100),
                  make_driver("cbc-aes-qce", Algorithm::cbc_aes)});
  const auto text = listing(machine);
  EXPECT_LT(text.find("cbc-aes-qce"), text.find("cbc-aes-generic"));
  EXPECT_NE(text.find("Known quirks"), std::string::npos);
  EXPECT_NE(text.find("2 drivers, 1 of them hardware, 1 of these usable"), std::string::npos)
      << text;
}

TEST(List, WithoutAfAlgSaysSoOnceAndStillLists) {
  FakeTransport transport("cbc-aes-qce");
  auto machine = make_machine(transport, {make_driver("cbc-aes-qce", Algorithm::cbc_aes)});
  machine.af_alg = {kernel::Failure::no_af_alg, EAFNOSUPPORT};
  const auto text = listing(machine);
  EXPECT_EQ(text.find("this kernel has no AF_ALG"), 0u) << text;
  EXPECT_NE(text.find("cbc-aes-qce"), std::string::npos);
}

TEST(List, JsonSaysWhyADriverIsNotUsable) {
  FakeTransport transport("other");
  const auto machine = make_machine(transport, {make_driver("cbc-aes-qce", Algorithm::cbc_aes)});
  const auto json = nlohmann::json::parse(listing(machine, true));
  EXPECT_EQ(json["af_alg"], true);
  EXPECT_EQ(json["drivers"][0]["driver"], "cbc-aes-qce");
  EXPECT_EQ(json["drivers"][0]["usable"], false);
  EXPECT_EQ(json["drivers"][0]["published_threshold"], 512);
  EXPECT_NE(json["drivers"][0]["why_not"], "");
}

TEST(List, ShowsWhatADriverServes) {
  FakeTransport transport("");
  const auto machine =
      make_machine(transport, {make_driver("ctr-aes-qce", Algorithm::ctr_aes),
                               make_driver("hmac-sha256-qce", Algorithm::hmac_sha256)});
  const auto text = listing(machine);
  EXPECT_NE(text.find("AES-128/256-CTR, AES-128/256-GCM"), std::string::npos) << text;
  EXPECT_NE(text.find("HMAC-SHA256  "), std::string::npos) << text;
  const auto json = nlohmann::json::parse(listing(machine, true));
  EXPECT_EQ(json["drivers"][0]["serves"],
            nlohmann::json({"AES-128-CTR", "AES-256-CTR", "AES-128-GCM", "AES-256-GCM"}));
  EXPECT_EQ(json["drivers"][1]["serves"], nlohmann::json({"HMAC-SHA256"}));
}

kernel::ProcCryptoEntry gcm_entry(const char* driver, const char* type = "aead") {
  kernel::ProcCryptoEntry entry;
  entry.name = "gcm(aes)";
  entry.driver = driver;
  entry.type = type;
  entry.async = true;
  return entry;
}

TEST(List, ANativeGcmDriverIsShownAsNotUsed) {
  FakeTransport transport("");
  auto machine = make_machine(transport, {make_driver("cbc-aes-qce", Algorithm::cbc_aes)});
  machine.aead_drivers = select_aead_drivers(
      {gcm_entry("gcm-aes-ccree"), gcm_entry("gcm_base(ctr-aes-qce,ghash-generic)")}, {});
  ASSERT_EQ(machine.aead_drivers.size(), 1u);
  const auto json = nlohmann::json::parse(listing(machine, true));
  ASSERT_EQ(json["drivers"].size(), 2u);
  EXPECT_EQ(json["drivers"][1]["driver"], "gcm-aes-ccree");
  EXPECT_EQ(json["drivers"][1]["kind"], "hardware");
  EXPECT_EQ(json["drivers"][1]["usable"], false);
  EXPECT_EQ(json["drivers"][1]["serves"], nlohmann::json::array());
  EXPECT_NE(listing(machine).find("not used by kaccel, which serves GCM by a driver of ctr(aes)"),
            std::string::npos);
}

TEST(List, OnlyAeadsOfGcmAreAeadDrivers) {
  auto other = gcm_entry("rfc4106-gcm-aes-ccree");
  other.name = "rfc4106(gcm(aes))";
  EXPECT_TRUE(select_aead_drivers({other, gcm_entry("x", "skcipher")}, {}).empty());
}

}  // namespace
}  // namespace kaccel::calibrate
