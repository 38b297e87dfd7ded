#include "calibrate/run.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "calibrate/command_error.hpp"
#include "fake_driver.hpp"
#include "temporary_directory.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Algorithm;
using kernel::Hardness;

class Run : public ::testing::Test {
 protected:
  Run() : transport_("cbc-aes-qce") { options_.output = directory_.file("t.cnf"); }

  // The line of the error, "" if there was none.
  std::string failure(ExitStatus status) {
    try {
      run(options_, machine_, out_, notes_);
    } catch (const CommandError& error) {
      EXPECT_EQ(error.status(), status);
      EXPECT_TRUE(out_.str().empty());
      return error.what();
    }
    return {};
  }

  TemporaryDirectory directory_;
  FakeTransport transport_;
  Machine machine_ = make_machine(
      transport_, {make_driver("cbc-aes-generic", Algorithm::cbc_aes, Hardness::software, 100),
                   make_driver("cbc-aes-qce", Algorithm::cbc_aes)});
  RunOptions options_;
  std::ostringstream out_;
  std::ostringstream notes_;
};

constexpr const char* known_fault =
    "kaccel-calibrate: cbc-aes-qce: known: computes a single block wrong: such calls stay in "
    "software, not tried\n";

TEST_F(Run, CalibratesEveryAlgorithmOfTheDriverAndWritesTheFile) {
  transport_.latency = std::chrono::microseconds(200);
  EXPECT_EQ(run(options_, machine_, out_, notes_), 0);
  EXPECT_EQ(notes_.str(), known_fault);  // once
  const auto file = text_of(*options_.output);
  EXPECT_NE(file.find("AES-128-CBC.driver = cbc-aes-qce\n"), std::string::npos) << file;
  EXPECT_NE(file.find("AES-256-CBC.encrypt = -1\n"), std::string::npos) << file;
  EXPECT_EQ(file.find("AES-192-CBC.driver"), std::string::npos) << file;
  EXPECT_NE(file.find("# AES-192-CBC on cbc-aes-qce: known not to take keys"), std::string::npos);
  EXPECT_NE(out_.str().find("not permitted"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find(".include " + *options_.output), std::string::npos) << out_.str();
}

TEST_F(Run, JsonHasEveryMeasurement) {
  options_.json = true;
  options_.algorithms = {"aes-128-cbc"};
  options_.sizes = "1000,64";
  run(options_, machine_, out_, notes_);
  const auto json = nlohmann::json::parse(out_.str());
  ASSERT_EQ(json["algorithms"].size(), 1u);
  const auto& sizes = json["algorithms"][0]["decrypt"]["sizes"];
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[1]["size"], 1008);
  EXPECT_GT(sizes[1]["hardware_ns"], 0);
  EXPECT_GT(sizes[1]["software_cpu_ns"], 0);
}

TEST_F(Run, AWrongDriverIsReportedInOneLineAndKeptOff) {
  transport_.behaviour = bad_lengths([](std::size_t n) { return n == 512; });
  options_.algorithms = {"AES-128-CBC"};
  EXPECT_EQ(run(options_, machine_, out_, notes_), 0);
  EXPECT_EQ(
      notes_.str(),
      known_fault + std::string("kaccel-calibrate: cbc-aes-qce: AES-128-CBC: taken out in the "
                                "self-test: encryption of 512 bytes is wrong\n"));
  EXPECT_NE(text_of(*options_.output).find("AES-128-CBC.encrypt = -1\n"), std::string::npos);
}

TEST_F(Run, TellsWhereWhatIsKnownToGoWrongDidNot) {
  options_.algorithms = {"AES-128-CBC"};
  options_.sizes = "64";
  options_.test_known_faults = true;
  run(options_, machine_, out_, notes_);
  EXPECT_NE(notes_.str().find("cbc-aes-qce: AES-128-CBC: the known faults did not show"),
            std::string::npos)
      << notes_.str();
}

TEST_F(Run, TriesWhatIsKnownToGoWrongWhereAskedTo) {
  transport_.behaviour = bad_lengths([](std::size_t n) { return n <= 16; });
  options_.algorithms = {"AES-128-CBC"};
  options_.sizes = "64";
  run(options_, machine_, out_, notes_);
  EXPECT_EQ(text_of(*options_.output).find(".min_size = "), std::string::npos);
  EXPECT_EQ(notes_.str(), known_fault);

  options_.test_known_faults = true;
  notes_.str("");
  run(options_, machine_, out_, notes_);
  EXPECT_NE(text_of(*options_.output).find("AES-128-CBC.min_size = 32\n"), std::string::npos);
  EXPECT_NE(notes_.str().find("known: computes a single block wrong: tried all the same\n"),
            std::string::npos)
      << notes_.str();
  EXPECT_NE(notes_.str().find("restricted in the self-test: encryption of 16 bytes is wrong"),
            std::string::npos)
      << notes_.str();
}

TEST_F(Run, TriesTheNextDriverWhenTheFavouriteIsWrong) {
  machine_.drivers.push_back(
      make_driver("cbc-aes-other", Algorithm::cbc_aes, Hardness::hardware, 4000));
  options_.algorithms = {"AES-128-CBC"};
  EXPECT_EQ(run(options_, machine_, out_, notes_), 0);
  EXPECT_NE(text_of(*options_.output).find("AES-128-CBC.driver = cbc-aes-qce"), std::string::npos);
  EXPECT_NE(text_of(*options_.output).find("# AES-128-CBC on cbc-aes-other: listed, but"),
            std::string::npos);
}

TEST_F(Run, ToStandardOutputPrintsTheFileAlone) {
  options_.output = "-";
  options_.algorithms = {"AES-128-CBC"};
  run(options_, machine_, out_, notes_);
  EXPECT_EQ(out_.str().find("# kaccel thresholds"), 0u);
  EXPECT_NE(out_.str().find("AES-128-CBC.driver = cbc-aes-qce"), std::string::npos);
}

class RunOn : public Run {
 protected:
  // A machine with these drivers alone, all of which bind.
  void calibrate(std::vector<kernel::Driver> drivers) {
    const auto machine = make_machine(any_, std::move(drivers));
    options_.sizes = "64,1420";
    EXPECT_EQ(run(options_, machine, out_, notes_), 0);
    file_ = text_of(*options_.output);
  }

  FakeTransport any_{""};
  std::string file_;
};

TEST_F(RunOn, ACounterModeDriverIsCalibratedForCtrAndGcm) {
  calibrate({make_driver("ctr-aes-qce", Algorithm::ctr_aes)});
  EXPECT_EQ(notes_.str().find("self-test"), std::string::npos) << notes_.str();
  for (const char* name : {"AES-128-CTR", "AES-256-CTR", "AES-128-GCM", "AES-256-GCM"}) {
    EXPECT_NE(file_.find(std::string(name) + ".driver = ctr-aes-qce\n"), std::string::npos)
        << file_;
  }
  EXPECT_NE(file_.find("# AES-192-GCM on ctr-aes-qce: known not to take keys"), std::string::npos);
}

TEST_F(RunOn, AnHmacDriverIsCalibratedToOneThreshold) {
  any_.latency = std::chrono::microseconds(200);
  options_.algorithms = {"hMaC-sHa1"};
  calibrate({make_driver("hmac-sha1-qce", Algorithm::hmac_sha1)});
  EXPECT_EQ(notes_.str(), "");
  EXPECT_NE(file_.find("HMAC-SHA1.threshold = -1\n"), std::string::npos) << file_;
}

TEST_F(RunOn, TwoKeyTripleDesIsPassedOverInOneLineWhereRefused) {
  calibrate({make_driver("cbc-3des-qce", Algorithm::cbc_des3_ede)});
  EXPECT_EQ(file_.find("DES-EDE-CBC.driver"), std::string::npos) << file_;
  EXPECT_NE(file_.find("# DES-EDE-CBC on cbc-3des-qce: known to refuse 3DES keys that repeat"),
            std::string::npos)
      << file_;
  EXPECT_NE(file_.find("DES-EDE3-CBC.driver = cbc-3des-qce\n"), std::string::npos) << file_;
}

TEST_F(RunOn, SingleDesNeedsTheLegacyProvider) {
  const TemporaryDirectory no_modules;
  const char* const before = std::getenv("OPENSSL_MODULES");
  const std::string old = before != nullptr ? before : "";
  setenv("OPENSSL_MODULES", no_modules.file("").c_str(), 1);
  calibrate({make_driver("cbc-des-qce", Algorithm::cbc_des)});
  before != nullptr ? setenv("OPENSSL_MODULES", old.c_str(), 1) : unsetenv("OPENSSL_MODULES");
  EXPECT_EQ(file_.find("DES-CBC.driver"), std::string::npos) << file_;
  EXPECT_NE(file_.find("# DES-CBC: OpenSSL's legacy provider (legacy.so) is not installed"),
            std::string::npos)
      << file_;
}

TEST_F(RunOn, CiphertextStealingIsWrittenWhereProved) {
  options_.algorithms = {"AES-128-XTS"};
  calibrate({make_driver("xts-other", Algorithm::xts_aes)});
  EXPECT_NE(file_.find("AES-128-XTS.ciphertext_stealing = yes\n"), std::string::npos) << file_;
}

TEST_F(RunOn, WrongPartialUnitsAreOneLineAndTheDriverStays) {
  any_.behaviour = bad_lengths([](std::size_t n) { return n % 16 != 0; });
  options_.algorithms = {"AES-128-XTS"};
  calibrate({make_driver("xts-other", Algorithm::xts_aes)});
  EXPECT_EQ(notes_.str(),
            "kaccel-calibrate: xts-other: AES-128-XTS: ciphertext stealing stays in software: "
            "encryption of 17 bytes is wrong\n");
  EXPECT_NE(file_.find("AES-128-XTS.driver = xts-other\n"), std::string::npos) << file_;
  EXPECT_EQ(file_.find("AES-128-XTS.ciphertext_stealing"), std::string::npos) << file_;
}

TEST_F(RunOn, AnAlgorithmNamedTwiceIsWrittenOnce) {
  options_.algorithms = {"HMAC-MD5", "hmac-md5"};
  calibrate({make_driver("hmac(md5-eip93)", Algorithm::hmac_md5)});
  EXPECT_EQ(file_.find("HMAC-MD5.driver"), file_.rfind("HMAC-MD5.driver")) << file_;
}

TEST_F(Run, WithoutAfAlgNothingIsWritten) {
  write_text(*options_.output, "old");
  machine_.af_alg = {kernel::Failure::no_af_alg, EAFNOSUPPORT};
  EXPECT_NE(failure(exit_cannot).find("this kernel has no AF_ALG"), std::string::npos);
  EXPECT_EQ(text_of(*options_.output), "old");
}

TEST_F(Run, AnUnknownDriverIsNamed) {
  options_.drivers = {"nosuch"};
  EXPECT_NE(failure(exit_cannot).find("unknown driver: nosuch"), std::string::npos);
}

TEST_F(Run, ADriverThatServesNothingAskedForIsNamed) {
  options_.drivers = {"cbc-aes-qce"};
  options_.algorithms = {"AES-128-CTR"};
  EXPECT_NE(failure(exit_cannot).find("cbc-aes-qce"), std::string::npos);
}

TEST_F(Run, AnUnknownAlgorithmIsNamed) {
  options_.algorithms = {"AES-128-XYZ"};
  const auto line = failure(exit_bad_input);
  EXPECT_NE(line.find("unknown algorithm: AES-128-XYZ"), std::string::npos);
  for (const char* name :
       {"AES-128-ECB", "AES-256-XTS", "AES-192-GCM", "DES-EDE3-CBC", "HMAC-SHA512"}) {
    EXPECT_NE(line.find(name), std::string::npos) << line;
  }
}

TEST_F(Run, AMachineWithoutHardwareIsToldSo) {
  machine_.drivers.pop_back();
  EXPECT_NE(failure(exit_cannot).find("no hardware driver found"), std::string::npos);
}

TEST_F(Run, AHiddenDriverIsToldSo) {
  transport_.binding = {kernel::Failure::no_driver, ENOENT};
  machine_.kernel = {"7.2.13", 7, 2, {}};
  EXPECT_NE(failure(exit_cannot).find("hidden"), std::string::npos);
}

TEST_F(Run, AnUnwritablePlaceIsFoundOutBeforeMeasuring) {
  transport_.behaviour = [](const kernel::CipherRequest&) { return Behaviour::wrong; };
  options_.output = directory_.file("missing/t.cnf");
  EXPECT_NE(failure(exit_cannot).find("cannot write"), std::string::npos);
  EXPECT_EQ(notes_.str(), "");
}

TEST_F(Run, SaysHowItMeasured) {
  transport_.latency = std::chrono::microseconds(200);
  options_.algorithms = {"AES-128-CBC"};
  options_.sizes = "64";
  options_.prefer = "offload=30";
  options_.threads = "2";
  options_.json = true;
  run(options_, machine_, out_, notes_);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["prefer"], "offload=30");
  EXPECT_EQ(json["threads"], 2);
  // Eight of each caller, and sixteen more where the machine was busy.
  const int operations = json["algorithms"][0]["encrypt"]["sizes"][0]["software_operations"];
  EXPECT_TRUE(operations == 16 || operations == 48) << operations;
  EXPECT_NE(text_of(*options_.output).find("--prefer offload=30 and --threads 2"),
            std::string::npos);
}

TEST_F(Run, WrongThreadsAreRefused) {
  for (const char* threads : {"0", "65", "-1", "2x", "1.5", "99999999999999999999"}) {
    options_.threads = threads;
    EXPECT_EQ(failure(exit_bad_input), std::string("wrong --threads: ") + threads +
                                           ": give the number of callers at a time, 1 to 64");
  }
}

TEST_F(Run, AWrongPreferenceIsRefused) {
  options_.prefer = "offload=0";
  EXPECT_NE(failure(exit_bad_input).find("wrong --prefer: offload=0: say speed, or offload="),
            std::string::npos);
}

TEST_F(Run, WrongSizesAreRefused) {
  for (const char* sizes :
       {"x", "16,", ",16", "0", "16;32", "-1", "16,,32", "99999999999999999999"}) {
    options_.sizes = sizes;
    EXPECT_NE(failure(exit_bad_input).find("wrong --sizes"), std::string::npos) << sizes;
  }
}

}  // namespace
}  // namespace kaccel::calibrate
