#include "calibrate/doctor/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <sstream>

#include "calibrate/doctor/configuration_lines.hpp"
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

TEST(DoctorLines, ANameIsQuotedForAShell) {
  EXPECT_EQ(doctor::shell_word("/etc/ssl/a.cnf"), "/etc/ssl/a.cnf");
  EXPECT_EQ(doctor::shell_word("a b"), "'a b'");
  EXPECT_EQ(doctor::shell_word("it's; rm"), "'it'\\''s; rm'");
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
  EXPECT_EQ(finding.mend.commands.front(),
            "kaccel-calibrate run --output " + directory_.file("kaccel-thresholds.cnf"));
}

TEST_F(DoctorThresholds, ADriverOfAnotherAlgorithmIsNamed) {
  machine_.drivers.push_back(make_driver("ctr-aes-qce", kernel::Algorithm::ctr_aes));
  const auto findings = examine_with(group + std::string("ctr-aes-qce\n"));
  EXPECT_NE(find(findings, "drivers").what.find("it is a driver of"), std::string::npos);
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
