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

}  // namespace
}  // namespace kaccel::calibrate
