#include "calibrate/explain.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <sstream>

#include "calibrate/command_error.hpp"
#include "fake_driver.hpp"
#include "temporary_directory.hpp"

namespace kaccel::calibrate {
namespace {

class Explain : public ::testing::Test {
 protected:
  Explain() : transport_("cbc-aes-qce") {
    configuration_.configured = true;
    configuration_.source = "test";
    configuration_.settings.calibrated = true;
    for (const char* name : {"AES-128-CBC", "AES-192-CBC"}) {
      auto& row = configuration_.settings.algorithms[find_algorithm(name)];
      row.driver = "cbc-aes-qce";
      row.encrypt = 768;
      row.decrypt = 256;
    }
  }

  std::string answer(const std::string& algorithm, const std::string& size, bool decrypt = false) {
    std::ostringstream out;
    EXPECT_EQ(explain({algorithm, size, decrypt, {}, false}, configuration_, machine_, out), 0);
    return out.str();
  }

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  FakeTransport transport_;
  Machine machine_ =
      make_machine(transport_, {make_driver("cbc-aes-qce", kernel::Algorithm::cbc_aes)});
  Configuration configuration_;
};

TEST_F(Explain, NamesTheThresholdAndTheDriver) {
  EXPECT_EQ(first_line(answer("AES-128-CBC", "1024")),
            "AES-128-CBC, 1024 bytes, encrypt: hardware (cbc-aes-qce): the size is above the "
            "threshold of 768");
  EXPECT_EQ(first_line(answer("aes-128-cbc", "768")),
            "AES-128-CBC, 768 bytes, encrypt: software: the size is within the threshold of 768");
}

TEST_F(Explain, KnowsBothDirections) {
  EXPECT_NE(answer("AES-128-CBC", "512", true).find("hardware"), std::string::npos);
}

TEST_F(Explain, CountsWholeBlocksOnly) {
  const auto text = answer("AES-128-CBC", "783");
  EXPECT_NE(first_line(text).find("software"), std::string::npos);
  EXPECT_NE(text.find("15 of these bytes do not count"), std::string::npos) << text;
}

TEST_F(Explain, RespectsKnownQuirks) {
  EXPECT_NE(first_line(answer("AES-192-CBC", "4096")).find("software: the driver must not"),
            std::string::npos);
}

TEST_F(Explain, SaysWhenTheDriverCannotBeUsedHere) {
  machine_.af_alg = {kernel::Failure::no_af_alg, EAFNOSUPPORT};
  const auto line = first_line(answer("AES-128-CBC", "4096"));
  EXPECT_NE(line.find("software"), std::string::npos) << line;
  EXPECT_NE(line.find("cannot be used: this kernel has no AF_ALG"), std::string::npos) << line;
}

TEST_F(Explain, AnAlgorithmWithoutADriverIsSoftware) {
  EXPECT_EQ(first_line(answer("AES-256-CTR", "4096")),
            "AES-256-CTR, 4096 bytes, encrypt: software: no driver is chosen for it");
}

TEST_F(Explain, JsonHasTheSameAnswer) {
  std::ostringstream out;
  explain({"AES-128-CBC", "1024", false, {}, true}, configuration_, machine_, out);
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["route"], "hardware");
  EXPECT_EQ(json["threshold"], 768);
}

TEST_F(Explain, NonsenseIsRefused) {
  for (const char* size :
       {"", "0", "-1", "x", "16x", "1e3", "99999999999999999999", "2147483648"}) {
    EXPECT_THROW(answer("AES-128-CBC", size), CommandError) << size;
  }
  EXPECT_THROW(answer("AES-128-GCM-NO", "16"), CommandError);
}

TEST(Configuration, WithoutASectionThePublishedThresholdsCount) {
  const TemporaryDirectory directory;
  write_text(directory.file("openssl.cnf"),
             "openssl_conf = init\n[init]\nproviders = p\n[p]\nkaccel = k\n[k]\nactivate = 1\n");
  const auto configuration = read_configuration(
      directory.file("openssl.cnf"), text_of(KACCEL_TEST_DATA "/proc-crypto-ipq4018-qce.txt"));
  const auto& row = configuration.settings.algorithms[find_algorithm("AES-128-CBC")];
  EXPECT_EQ(row.driver, "cbc-aes-qce");
  EXPECT_EQ(row.encrypt, 512);
  EXPECT_FALSE(configuration.settings.calibrated);
}

TEST(Configuration, AnUnknownKeyIsRefusedAndNamed) {
  const TemporaryDirectory directory;
  write_text(directory.file("openssl.cnf"),
             "openssl_conf = init\n[init]\nproviders = p\n[p]\nkaccel = k\n[k]\nthreshhold = 1\n");
  try {
    read_configuration(directory.file("openssl.cnf"), "");
    FAIL() << "was accepted";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("threshhold"), std::string::npos);
  }
}

TEST(Configuration, ANamedFileThatIsNotThereIsRefused) {
  EXPECT_THROW(read_configuration("/nonexistent/openssl.cnf", ""), CommandError);
}

}  // namespace
}  // namespace kaccel::calibrate
