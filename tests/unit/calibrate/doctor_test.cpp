#include "calibrate/doctor/doctor.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <sstream>

#include "calibrate/doctor/configuration_lines.hpp"
#include "calibrate/doctor/rehearsal.hpp"
#include "calibrate/doctor/similar_names.hpp"
#include "calibrate/doctor/subject.hpp"
#include "fake_driver.hpp"
#include "temporary_directory.hpp"

namespace kaccel::calibrate {
namespace {

using doctor::Activation;
using doctor::Findings;
using doctor::State;

TEST(DoctorActivation, BeforeOpenssl32TheLineIsEnough) {
  constexpr unsigned long v3_1 = 0x30100000;
  constexpr unsigned long v3_2 = 0x30200000;
  for (const char* value : {"0", "no", "OFF", "maybe", ""}) {
    EXPECT_EQ(doctor::activation(value, v3_1), Activation::active) << value;
    EXPECT_NE(doctor::activation(value, v3_2), Activation::active) << value;
  }
  EXPECT_EQ(doctor::activation("yes", v3_2), Activation::active);
  EXPECT_EQ(doctor::activation("no", v3_2), Activation::inactive);
  EXPECT_EQ(doctor::activation("maybe", v3_2), Activation::refused);
  EXPECT_EQ(doctor::activation(std::nullopt, v3_1), Activation::inactive);
}

TEST(DoctorLines, FollowIncludesAndKeepTheirLineNumbers) {
  const TemporaryDirectory directory;
  write_text(directory.file("more.cnf"), "[more]\nkey = one\n");
  write_text(directory.file("main.cnf"), "# head\n\nfirst = \\\n1\n.include " +
                                             directory.file("more.cnf") +
                                             "\nlater = 2\r\n[ own ]\nkey=3 # three\nkey = 4\n");
  const auto lines = doctor::read_configuration_lines(directory.file("main.cnf"));
  ASSERT_NE(lines.find("default", "first"), nullptr);
  EXPECT_EQ(lines.find("default", "first")->number, 3U);
  ASSERT_NE(lines.find("more", "key"), nullptr);
  EXPECT_EQ(lines.find("more", "key")->file, directory.file("more.cnf"));
  // An included file ends the section that it stands in.
  ASSERT_NE(lines.find("more", "later"), nullptr);
  EXPECT_EQ(lines.find("more", "later")->value, "2");
  ASSERT_NE(lines.find("own", "key"), nullptr);
  EXPECT_EQ(lines.find("own", "key")->value, "4");
  EXPECT_EQ(lines.find("own", "other"), nullptr);
}

TEST(DoctorLines, AreCommentedOutInRangesNoneTooLongForAShell) {
  std::vector<doctor::ConfigurationLine> lines;
  for (const std::size_t number : {9U, 3U, 4U, 5U, 3U}) lines.push_back({"a", number, {}, {}, {}});
  for (std::size_t i = 0; i < 2500; ++i) lines.push_back({"b", 2 * i + 1, {}, {}, {}});
  std::vector<const doctor::ConfigurationLine*> all;
  for (const auto& line : lines) all.push_back(&line);
  const auto commands = doctor::comment_out(all);
  ASSERT_EQ(commands.size(), 4U);
  EXPECT_EQ(commands.front().text, "sed -i '3,5s/^/#/;9s/^/#/' a");
  EXPECT_EQ(commands.front().lines, (std::vector<std::size_t>{3, 4, 5, 9}));
  std::size_t told = 0;
  for (const auto& command : commands) {
    EXPECT_LT(command.text.size(), 100'000U);  // Linux takes 128 KiB in a word
    told += command.lines.size();
  }
  EXPECT_EQ(told, 2504U);
  EXPECT_EQ(commands.back().lines.back(), 4999U);
}

TEST(DoctorLines, AFileThatIncludesItselfIsReadOnce) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.cnf");
  const std::string include = ".include " + path + "\n";
  write_text(path, "key = 1\n" + include + include + include);
  const auto lines = doctor::read_configuration_lines(path);
  EXPECT_EQ(lines.keys.size(), 1U);
  ASSERT_EQ(lines.includes.size(), 3U);
  EXPECT_TRUE(lines.includes.front().circular);
  EXPECT_TRUE(doctor::is_endless(path, lines));
}

TEST(DoctorConf, ASectionsKeysAreItsOwn) {
  const auto conf = doctor::OpensslConf::of_text("a = 1\nb =\n[s]\nb = 2\nb = 3\n[t]\n");
  EXPECT_EQ(conf.value("default", "a"), "1");
  EXPECT_EQ(conf.value("default", "b"), "");
  EXPECT_EQ(conf.value("s", "b"), "3");
  EXPECT_EQ(conf.value("s", "a"), std::nullopt);
  EXPECT_EQ(conf.value("t", "c"), std::nullopt);
  EXPECT_EQ(conf.value("none", "a"), std::nullopt);
}

TEST(DoctorLines, ANameIsQuotedForAShell) {
  EXPECT_EQ(doctor::shell_word("/etc/ssl/a.cnf"), "/etc/ssl/a.cnf");
  EXPECT_EQ(doctor::shell_word("a b"), "'a b'");
  EXPECT_EQ(doctor::shell_word("it's; rm"), "'it'\\''s; rm'");
}

TEST(DoctorNames, AreSimilarWhereALetterOrTwoDiffer) {
  EXPECT_TRUE(doctor::is_similar("provider_sect", "provider_sec"));
  EXPECT_TRUE(doctor::is_similar("kacel_sect", "Kaccel_Sect"));
  EXPECT_FALSE(doctor::is_similar("rr", "p"));
  EXPECT_FALSE(doctor::is_similar("kaccel_thresholds", "kaccel_sect"));
  EXPECT_EQ(doctor::distance("abc", ""), 3U);
  EXPECT_EQ(doctor::distance("kitten", "sitting"), 3U);
}

class DoctorMachine : public ::testing::Test {
 protected:
  DoctorMachine() : transport_("cbc-aes-qce") {}

  Findings kernel() {
    Findings findings;
    doctor::check_kernel(machine_, findings);
    return findings;
  }

  FakeTransport transport_;
  Machine machine_ =
      make_machine(transport_, {make_driver("cbc-aes-qce", kernel::Algorithm::cbc_aes)});
};

TEST_F(DoctorMachine, UsableHardwareIsWell) {
  ASSERT_EQ(kernel().size(), 1U);
  EXPECT_EQ(kernel().front().state, State::ok);
}

TEST_F(DoctorMachine, NamesEachWallOfTheKernel) {
  machine_.af_alg = {kernel::Failure::denied, EPERM};
  EXPECT_NE(kernel().front().what.find("seccomp"), std::string::npos);
  machine_.af_alg = {kernel::Failure::no_af_alg, EAFNOSUPPORT};
  EXPECT_NE(kernel().front().what.find("algif_skcipher"), std::string::npos);
  machine_.af_alg = kernel::success;
  machine_.kernel.release = "7.2.1";
  machine_.kernel.major = 7;
  machine_.kernel.minor = 2;
  transport_.binding = {kernel::Failure::no_driver, ENOENT};
  EXPECT_NE(kernel().front().what.find("hidden: Linux 7.2"), std::string::npos);
  EXPECT_FALSE(doctor::has_usable_hardware(machine_));
}

TEST_F(DoctorMachine, AWarningWithNothingToMendIsWell) {
  std::ostringstream out;
  EXPECT_EQ(print_findings({{State::warning, "kernel", "x"}}, false, out), 0);
  EXPECT_EQ(print_findings({{State::problem, "kernel", "x"}}, false, out), 1);
  EXPECT_EQ(print_findings({{State::warning, "y", "x", "", "", {{"true"}}}}, true, out), 1);
}

TEST_F(DoctorMachine, TheSameCommandIsPrintedOnce) {
  std::ostringstream out;
  const doctor::Finding finding{State::warning, "y", "x", "", "", {{"kaccel-calibrate run"}}};
  print_findings({finding, finding}, false, out);
  const auto first = out.str().find("kaccel-calibrate run\n");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(out.str().find("kaccel-calibrate run\n", first + 1), std::string::npos);
  EXPECT_NE(out.str().find("by the same command as above"), std::string::npos);
}

class DoctorRehearsal : public DoctorMachine {
 protected:
  // What the lines at the file's end would break in a configuration that is well.
  std::string breaks(const std::vector<std::string>& lines) {
    const std::string path = directory_.file("openssl.cnf");
    write_text(directory_.file("more.cnf"), "[more]\nkey = value\n[default]\n");
    write_text(path, "openssl_conf = i\n.include " + directory_.file("more.cnf") +
                         "\n[i]\nalg_section = a\n[a]\n");
    const doctor::OpensslConf conf(path);
    const auto read = doctor::read_configuration_lines(path);
    const auto trial = doctor::try_configuration(path);
    const doctor::Subject subject{path, conf, read, machine_, trial};
    Findings findings{{State::problem, "x", "x", "", "", {{}, lines, path, {}}}};
    text_ = doctor::mended_text(subject, findings);
    std::string lost = doctor::what_would_break(subject, findings);
    doctor::rehearse(subject, findings);
    EXPECT_EQ(findings.front().mend.lines.empty(), !lost.empty());
    EXPECT_EQ(findings.back().check == "mending", !lost.empty());
    return lost;
  }

  TemporaryDirectory directory_;
  std::string text_;
};

TEST_F(DoctorRehearsal, KeepsLinesThatBreakNothing) {
  EXPECT_EQ(breaks({"[a]", "fips_mode = no"}), "");
  EXPECT_EQ(text_,
            "openssl_conf = i\n[more]\nkey = value\n[default]\n[i]\nalg_section = a\n[a]\n"
            "[a]\nfips_mode = no\n");
}

TEST_F(DoctorRehearsal, TakesBackLinesThatLockProgramsOut) {
  EXPECT_NE(breaks({"[i]", "providers = p", "[p]", "base = b", "[b]", "activate = 1"})
                .find("nobody would answer for"),
            std::string::npos);
}

TEST_F(DoctorRehearsal, TakesBackLinesThatOpensslRefuses) {
  EXPECT_NE(breaks({"[a]", "no_such_key = 1"}).find("OpenSSL would refuse"), std::string::npos);
}

TEST_F(DoctorMachine, AFifoInTheModulesPlaceIsNotLoaded) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.file("kaccel.so");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto conf = doctor::OpensslConf::of_text("[k]\nmodule = " + fifo + "\n");
  Findings findings;
  doctor::check_module({"openssl.cnf", conf, {}, machine_, {}}, {"i", "p", "k"}, findings);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().what, fifo + " is a FIFO and no file");
  EXPECT_NE(findings.front().means.find("waits there"), std::string::npos);
}

TEST_F(DoctorMachine, PropertiesThatNameKaccelAndLeaveItOutAreRemarked) {
  const auto conf = doctor::OpensslConf::of_text(
      "[i]\nalg_section = a\n[a]\ndefault_properties = fips=yes, ?provider=kaccel\n");
  doctor::Trial trial;
  trial.providers = {"base", "fips", "kaccel"};
  for (const char* provider : {"fips", "kaccel"}) {
    trial.answers = {{doctor::trial_cipher, provider}};
    Findings findings;
    doctor::check_properties({"openssl.cnf", conf, {}, machine_, trial}, {"i", "p", "k"}, findings);
    ASSERT_FALSE(findings.empty());
    const auto& finding = findings.front();
    EXPECT_EQ(finding.check, "default_properties");
    EXPECT_TRUE(finding.mend.empty());
    if (std::string_view(provider) == "kaccel") {
      EXPECT_EQ(finding.state, State::ok);
    } else {
      EXPECT_EQ(finding.state, State::warning);
      EXPECT_NE(finding.what.find("leaves kaccel out"), std::string::npos);
      EXPECT_NE(finding.means.find("AES-256-CBC comes from fips"), std::string::npos);
    }
  }
}

class DoctorThresholds : public DoctorMachine {
 protected:
  Findings examine_with(const std::string& thresholds) {
    write_text(directory_.file("kaccel-thresholds.cnf"), thresholds);
    write_text(directory_.file("openssl.cnf"),
               "openssl_conf = i\n[i]\nproviders = p\n[p]\nkaccel = k\n[k]\nactivate = 1\n"
               "thresholds = kaccel_thresholds\n.include " +
                   directory_.file("kaccel-thresholds.cnf") + "\n");
    return examine(directory_.file("openssl.cnf"), machine_);
  }

  static const doctor::Finding& find(const Findings& findings, const std::string& check) {
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const auto& each) { return each.check == check; });
    if (found == findings.end()) throw std::runtime_error("no finding " + check);
    return *found;
  }

  TemporaryDirectory directory_;
};

constexpr const char* group =
    "[kaccel_thresholds]\nAES-128-CBC.encrypt = 512\nAES-128-CBC.decrypt = 512\n"
    "AES-128-CBC.driver = ";

TEST_F(DoctorThresholds, OfThisMachineAreWell) {
  EXPECT_EQ(find(examine_with(group + std::string("cbc-aes-qce\n")), "drivers").state, State::ok);
}

TEST_F(DoctorThresholds, OfAnotherMachineAreMeasuredAnewWhereThereIsHardware) {
  const auto findings = examine_with(group + std::string("cbc(aes-eip93)\n"));
  const auto& finding = find(findings, "drivers");
  EXPECT_EQ(finding.state, State::warning);
  ASSERT_EQ(finding.mend.commands.size(), 1U);
  EXPECT_EQ(finding.mend.commands.front().text,
            "kaccel-calibrate run --output " + directory_.file("kaccel-thresholds.cnf"));
}

TEST_F(DoctorThresholds, ADriverOfAnotherAlgorithmIsNamed) {
  machine_.drivers.push_back(make_driver("ctr-aes-qce", kernel::Algorithm::ctr_aes));
  const auto findings = examine_with(group + std::string("ctr-aes-qce\n"));
  EXPECT_NE(find(findings, "drivers").what.find("it is a driver of"), std::string::npos);
}

TEST_F(DoctorThresholds, ASoftwareDriverIsNamed) {
  machine_.drivers.push_back(
      make_driver("cbc-aes-aesni", kernel::Algorithm::cbc_aes, kernel::Hardness::software));
  const auto findings = examine_with(group + std::string("cbc-aes-aesni\n"));
  const auto named = std::find_if(findings.begin(), findings.end(), [](const auto& each) {
    return each.what.find("cbc-aes-aesni is no hardware") != std::string::npos;
  });
  ASSERT_NE(named, findings.end());
  EXPECT_EQ(named->state, State::warning);
  EXPECT_FALSE(named->mend.empty());
}

TEST_F(DoctorThresholds, APlaceIsTheLineThatTheMessageNames) {
  const auto findings = examine_with(
      "[kaccel_thresholds]\nAES-128-CBC.encrypt = 512\nAES-128-CBC.decrypt = lots\n"
      "AES-128-CBC.driver = cbc-aes-qce\n");
  const auto& finding = find(findings, "keys");
  EXPECT_NE(finding.what.find("decrypt"), std::string::npos);
  EXPECT_NE(finding.where.find("line 3"), std::string::npos);
}

TEST_F(DoctorThresholds, InAFifoAreMeasuredAnewIntoAFileOnceItIsOutOfTheWay) {
  const std::string fifo = directory_.file("kaccel-thresholds.cnf");
  write_text(directory_.file("openssl.cnf"), "openssl_conf = i\n.include " + fifo + "\n");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  alarm(60);  // not a judgement: that is a hang
  const auto findings = examine(directory_.file("openssl.cnf"), machine_);
  alarm(0);
  const auto& finding = find(findings, "included file");
  EXPECT_EQ(finding.what, fifo + " is a FIFO and no file");
  EXPECT_EQ(finding.where, directory_.file("openssl.cnf") + ", line 2, .include");
  EXPECT_NE(finding.means.find("waits"), std::string::npos);
  ASSERT_EQ(finding.mend.commands.size(), 2U);
  EXPECT_EQ(finding.mend.commands[0].text, "mv " + fifo + " " + fifo + ".old");
  EXPECT_EQ(finding.mend.commands[1].text, "kaccel-calibrate run --output " + fifo);
}

TEST_F(DoctorThresholds, OneAlgorithmStaysAndTwoStay) {
  const auto findings = examine_with(group + std::string("cbc(aes-eip93)\n"));
  EXPECT_EQ(find(findings, "drivers").means, "AES-128-CBC stays in software");
}

TEST_F(DoctorThresholds, OfAnotherKernelAreMeasuredAnew) {
  machine_.kernel.release = "6.6.1";
  machine_.kernel.major = 6;
  machine_.kernel.minor = 6;
  const std::string head = "# kaccel thresholds, measured by kaccel-calibrate 0 on now, Linux ";
  const auto old = examine_with(head + "6.1.0-9-amd64.\n" + group + "cbc-aes-qce\n");
  EXPECT_EQ(find(old, "calibration").state, State::warning);
  const auto same = examine_with(head + "6.6.9.\n" + group + "cbc-aes-qce\n");
  EXPECT_EQ(find(same, "calibration").state, State::ok);
}

}  // namespace
}  // namespace kaccel::calibrate
