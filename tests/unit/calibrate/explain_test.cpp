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

TEST_F(Explain, SaysThatAFilterKeepsHardwareOffUnlessItIsPermitted) {
  machine_.kernel.seccomp_filter = true;
  const auto line = first_line(answer("AES-128-CBC", "4096"));
  EXPECT_NE(line.find("software"), std::string::npos) << line;
  EXPECT_NE(line.find("under_seccomp = yes"), std::string::npos) << line;
  configuration_.settings.under_seccomp = true;
  EXPECT_NE(first_line(answer("AES-128-CBC", "4096")).find("hardware"), std::string::npos);
}

TEST_F(Explain, ASoftwareDriverIsNotCalledHardware) {
  machine_.drivers = {
      make_driver("cbc-aes-qce", kernel::Algorithm::cbc_aes, kernel::Hardness::software)};
  const auto text = answer("AES-128-CBC", "4096");
  EXPECT_NE(first_line(text).find(": kernel software (cbc-aes-qce): "), std::string::npos) << text;
  EXPECT_NE(text.find("it is no hardware: "), std::string::npos) << text;
  std::ostringstream out;
  explain({"AES-128-CBC", "4096", false, {}, true}, configuration_, machine_, out);
  EXPECT_EQ(nlohmann::json::parse(out.str())["route"], "kernel software");
}

TEST_F(Explain, AnAlgorithmWithoutADriverIsSoftware) {
  EXPECT_EQ(first_line(answer("AES-256-CTR", "4096")),
            "AES-256-CTR, 4096 bytes, encrypt: software: no driver is chosen for it");
}

class ExplainRow : public Explain {
 protected:
  AlgorithmSettings& settle(const char* name, const char* driver, Threshold threshold) {
    auto& row = configuration_.settings.algorithms[find_algorithm(name)];
    row.driver = driver;
    row.encrypt = threshold;
    row.decrypt = threshold;
    return row;
  }

  std::string first(const std::string& algorithm, const std::string& size) {
    return first_line(answer(algorithm, size));
  }

  // On a machine where every driver binds.
  std::string run(const char* algorithm, const char* size) {
    std::ostringstream out;
    const auto& driver = configuration_.settings.algorithms[find_algorithm(algorithm)].driver;
    explain({algorithm, size, false, {}, false}, configuration_,
            machine_of(driver.c_str(), algorithm), out);
    return first_line(out.str());
  }

  FakeTransport any_{""};
  std::ostringstream out_;
  Machine machine_of(const char* driver, const char* algorithm) {
    return make_machine(
        any_, {make_driver(driver, algorithm_table[find_algorithm(algorithm)].kernel_algorithm)});
  }
};

TEST_F(ExplainRow, EveryRowHasAnAnswerAtEverySize) {
  for (const auto& algorithm : algorithm_table) {
    if (needs_legacy(algorithm) && !legacy_is_installed()) continue;
    const std::string name = algorithm.name;
    settle(algorithm.name, "other", 100);
    explain({name, "100", false, {}, false}, configuration_, machine_of("other", algorithm.name),
            out_);
    EXPECT_NE(out_.str().find("software: the size is within the threshold of 100"),
              std::string::npos)
        << out_.str();
    out_.str("");
    for (const char* size : {"1", "7", "1000", "2147483647"}) {
      explain({name, size, false, {}, true}, configuration_, machine_of("other", algorithm.name),
              out_);
      EXPECT_TRUE(nlohmann::json::accept(out_.str())) << name << size;
      out_.str("");
    }
    explain({name, "4096", false, {}, false}, configuration_, machine_of("other", algorithm.name),
            out_);
    EXPECT_NE(out_.str().find("hardware (other)"), std::string::npos) << out_.str();
    out_.str("");
  }
}

TEST_F(ExplainRow, ADataUnitThatCannotBeSplitStaysInSoftware) {
  settle("AES-128-XTS", "xts-other", 512).restrictions.max_size = 4096;
  EXPECT_NE(first("AES-128-XTS", "8192")
                .find("software: a data unit cannot be split, and one "
                      "request takes at most 4096 bytes"),
            std::string::npos);
  settle("AES-128-XTS", "xts-other", 512).restrictions = {};
  any_.max_request = 12'288;
  EXPECT_EQ(run("AES-128-XTS", "16384").find("hardware ("), std::string::npos);
  EXPECT_NE(run("AES-128-XTS", "12288").find("hardware (xts-other)"), std::string::npos);
}

TEST_F(ExplainRow, PartialDataUnitsNeedProof) {
  auto& row = settle("AES-128-XTS", "xts-other", 512);
  EXPECT_NE(first("AES-128-XTS", "1000").find("software: the data unit is not whole blocks"),
            std::string::npos);
  row.ciphertext_stealing = true;
  EXPECT_NE(run("AES-128-XTS", "1000").find("hardware (xts-other)"), std::string::npos);
  settle("AES-128-XTS", "xts-aes-qce", 512).ciphertext_stealing = false;
  EXPECT_NE(first("AES-128-XTS", "1000").find("software: the driver must not be given this size"),
            std::string::npos);
}

TEST_F(ExplainRow, LessThanABlockIsNothingForADriver) {
  for (const char* name : {"AES-128-CBC", "AES-128-GCM"}) {
    settle(name, "other", always_hardware);
    EXPECT_NE(first(name, "15").find("software: only whole blocks go to a driver"),
              std::string::npos);
    settle(name, "other", 256);
    EXPECT_NE(first(name, "15").find("software: the size is within the threshold of 256"),
              std::string::npos);
  }
}

TEST_F(ExplainRow, LongMessagesAreNotKeptForHardware) {
  settle("HMAC-SHA256", "hmac-other", 512);
  EXPECT_EQ(first("hmac-sha256", "1048577"),
            "HMAC-SHA256, 1048577 bytes: software: a message is kept for hardware up to 1048576 "
            "bytes");
  EXPECT_NE(run("HMAC-SHA256", "1048576").find("hardware (hmac-other)"), std::string::npos);
}

TEST_F(ExplainRow, AnHmacHasNoDirection) {
  settle("HMAC-SHA256", "hmac-other", 512);
  EXPECT_THROW(answer("HMAC-SHA256", "1024", true), CommandError);
  explain({"HMAC-SHA256", "1024", false, {}, true}, configuration_, machine_, out_);
  EXPECT_FALSE(nlohmann::json::parse(out_.str()).contains("direction"));
}

TEST_F(ExplainRow, GcmSaysWhatDecidesAndWhichIvsCount) {
  settle("AES-256-GCM", "ctr-other", 512);
  const auto text = answer("AES-256-GCM", "1420");
  EXPECT_NE(text.find("first data update of a message decides"), std::string::npos) << text;
  EXPECT_NE(text.find("IV is not 12 bytes"), std::string::npos) << text;
  settle("AES-192-GCM", "ctr-aes-qce", 512);
  EXPECT_NE(first("AES-192-GCM", "1420").find("must not be given this key size of 192 bits"),
            std::string::npos);
}

TEST_F(ExplainRow, TwoKeyTripleDesIsNothingForADriverThatRefusesIt) {
  settle("DES-EDE-CBC", "cbc-3des-qce", 512);
  EXPECT_NE(first("DES-EDE-CBC", "1024").find("software: the driver refuses keys that repeat"),
            std::string::npos);
  settle("DES-EDE3-CBC", "cbc-3des-qce", 512);
  EXPECT_NE(answer("DES-EDE3-CBC", "1024").find("two parts are equal stay in software"),
            std::string::npos);
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

constexpr const char* with_include =
    "openssl_conf = init\n[init]\nproviders = p\n[p]\nkaccel = k\n[k]\nactivate = 1\n"
    "thresholds = t\n.include ";

TEST(Configuration, ThresholdsComeFromTheFileTheyStandIn) {
  const TemporaryDirectory directory;
  const std::string included = directory.file("kaccel-thresholds.cnf");
  const std::string config = directory.file("openssl.cnf");
  write_text(included, "[t]\ncalibrated = yes\n");
  write_text(config, with_include + included + "\n");
  EXPECT_EQ(read_configuration(config, "").source, included);
  write_text(config, std::string(with_include) + included + "\n[t]\nAES-128-CBC.encrypt = 1\n" +
                         "AES-128-CBC.decrypt = 1\nAES-128-CBC.driver = x\n");
  EXPECT_EQ(read_configuration(config, "").source, included + ", " + config);
}

TEST(Configuration, ALineThatCannotBeReadIsCountedInItsOwnFile) {
  const TemporaryDirectory directory;
  const std::string included = directory.file("kaccel-thresholds.cnf");
  const std::string config = directory.file("openssl.cnf");
  const auto refusal = [&] {
    try {
      read_configuration(config, "");
    } catch (const CommandError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  write_text(included, "[t]\ncalibrated = yes\n[default]\n");
  write_text(config, with_include + included + "\nno equals sign\n");
  EXPECT_NE(refusal().find(config + ":10: "), std::string::npos) << refusal();
  write_text(included, "[t]\nno equals sign\n");
  EXPECT_NE(refusal().find(included + ":2: "), std::string::npos) << refusal();
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
