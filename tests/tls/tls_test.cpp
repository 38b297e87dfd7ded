// Handshake and data each way, byte for byte, by every kind of record protection that kaccel takes
// part in: kaccel on both sides and on one, every call to hardware and by calibrated thresholds.
//
//   KACCEL_TEST_TLS_BYTES=N            bytes each way (10,000,000)
//   KACCEL_TEST_CONFIGURATION=FILE     an openssl.cnf whose thresholds are the calibrated ones

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/tls/connection.hpp"

namespace kaccel::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

// clang-format off
constexpr std::array suites{
    Suite{"GcmOfTls12",         TLS1_2_VERSION, "ECDHE-RSA-AES128-GCM-SHA256", true},
    Suite{"CbcMacThenEncrypt",  TLS1_2_VERSION, "AES256-SHA",                  false},
    Suite{"CbcEncryptThenMac",  TLS1_2_VERSION, "AES256-SHA",                  true},
    Suite{"TripleDes",          TLS1_2_VERSION, "DES-CBC3-SHA",                false},
    Suite{"GcmOfTls13",         TLS1_3_VERSION, "TLS_AES_256_GCM_SHA384",      true},
};
// clang-format on

enum class Sides { both, client, server };
enum class Routing { hardware_always, calibrated };

using Case = std::tuple<Suite, Sides, Routing>;

class Tls : public ::testing::TestWithParam<Case> {};

Bytes random_bytes(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

std::unique_ptr<TlsLibrary> library(bool with_kaccel, Routing routing) {
  if (!with_kaccel) return std::make_unique<TlsLibrary>();
  return std::make_unique<TlsLibrary>(
      routing == Routing::hardware_always ? settings_with_thresholds(0, 0) : calibrated_settings());
}

// Where the processor has AES instructions, libssl fetches one cipher for CBC and the MAC after it,
// which kaccel has not: the records are OpenSSL's, and of hardware only the handshake's HMAC is.
bool is_stitched(const Suite& suite) {
  if (std::string_view(suite.name) != "CbcMacThenEncrypt") return false;
  EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, "AES-256-CBC-HMAC-SHA1", nullptr);
  EVP_CIPHER_free(cipher);
  return cipher != nullptr;
}

// `least`: bytes that went to hardware where all may.
void check(const TlsLibrary& side, Routing routing, std::size_t least) {
  if (!side.has_kaccel()) return;
  if (routing == Routing::hardware_always) {
    EXPECT_GE(side.counter("hardware-bytes"), least);
  }
  EXPECT_EQ(side.counter("fallbacks"), 0U);
  if (side.fake() != nullptr) {
    EXPECT_EQ(side.fake()->violations(), std::vector<std::string>{});
  }
}

TEST_P(Tls, CarriesEveryByteEachWay) {
  const auto& [suite, sides, routing] = GetParam();
  if (!has_suite(suite)) GTEST_SKIP() << "this libssl was built without " << suite.cipher;
  const auto client = library(sides != Sides::server, routing);
  const auto server = library(sides != Sides::client, routing);
  const std::size_t size = number_from_environment("KACCEL_TEST_TLS_BYTES", 10'000'000);
  {
    Connection connection(*client, *server, suite);
    EXPECT_EQ(connection.cipher(), suite.cipher);
    const Bytes up = random_bytes(size, 1);
    const Bytes down = random_bytes(size, 2);
    EXPECT_TRUE(connection.to_server(up) == up);
    EXPECT_TRUE(connection.to_client(down) == down);
  }
  // GCM's records go through hardware either way, CBC's where they are encrypted. So do the MACs,
  // but for those that OpenSSL checks in constant time. What is too short for a driver is a small
  // part.
  const bool is_gcm = std::string_view(suite.cipher).find("GCM") != std::string_view::npos;
  const bool two_macs = !is_gcm && suite.encrypt_then_mac;
  const std::size_t least = is_stitched(suite) ? 1 : two_macs ? size * 5 / 2 : size * 3 / 2;
  check(*client, routing, least);
  check(*server, routing, least);
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const auto& [suite, sides, routing] = info.param;
  const std::string where = sides == Sides::both     ? "OnBothSides"
                            : sides == Sides::client ? "AtTheClient"
                                                     : "AtTheServer";
  return std::string(suite.name) + where +
         (routing == Routing::hardware_always ? "HardwareAlways" : "Calibrated");
}

INSTANTIATE_TEST_SUITE_P(
    Of, Tls,
    ::testing::Combine(::testing::ValuesIn(suites),
                       ::testing::Values(Sides::both, Sides::client, Sides::server),
                       ::testing::Values(Routing::hardware_always, Routing::calibrated)),
    name_of);

}  // namespace

void PrintTo(const Suite& suite, std::ostream* out) {
  *out << suite.name;
}

}  // namespace kaccel::testing
