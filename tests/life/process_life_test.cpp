// Whole processes with kaccel.so from their openssl.cnf: how they start others, drop what they
// have, run out of it, and end.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

namespace fs = std::filesystem;

// On a host the drivers are missing, and all stays in software.
std::string driver_or(kernel::Algorithm algorithm, const char* absent) {
  return on_real_kernel() ? driver_for(algorithm) : absent;
}

class ProcessLife : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kaccel-life-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  // As openssl.cnf.example, with or without its [random] section. Where kaccel is not activated, it
  // gets these settings as soon as the application itself loads it.
  void configure(const std::string& init, const std::string& tail, bool activate = true) {
    std::ofstream file(directory_ / "openssl.cnf");
    file << "openssl_conf = openssl_init\n[openssl_init]\n"
         << init << "[providers]\ndefault = default_sect\nkaccel = kaccel_sect\n"
         << "[default_sect]\nactivate = 1\n"
         << "[kaccel_sect]\n"
         << (activate ? "activate = 1\n" : "")
         << "force_threshold = 0\nthresholds = kaccel_thresholds\n"
         << "[algorithms]\ndefault_properties = ?provider=kaccel\n"
         << tail << "[kaccel_thresholds]\n";
    const std::array<std::pair<const char*, std::string>, 3> modes{
        std::pair{"ECB", driver_or(kernel::Algorithm::ecb_aes, "ecb(aes-eip93)")},
        std::pair{"CBC", driver_or(kernel::Algorithm::cbc_aes, "cbc(aes-eip93)")},
        std::pair{"CTR", driver_or(kernel::Algorithm::ctr_aes, "ctr(aes-eip93)")}};
    for (const auto& [mode, driver] : modes) {
      if (driver.empty()) continue;
      for (const char* bits : {"128", "256"}) {
        const std::string name = std::string("AES-") + bits + "-" + mode;
        file << name << ".encrypt = 512\n"
             << name << ".decrypt = 512\n"
             << name << ".driver = " << driver << "\n";
      }
    }
  }
  void configure() {
    configure("providers = providers\nalg_section = algorithms\nrandom = random_sect\n",
              "[random_sect]\nproperties = provider=default\n");
  }

  // The status of waitpid(2); what the program says on standard error is the test's too.
  int run(const std::string& name, const std::string& argument, bool seeks_leaks = true) {
    const std::string path = std::string(KACCEL_LIFE_DIR "/") + name;
    const pid_t child = ::fork();
    if (child == 0) {
      // What the shell left to this test is not the program's.
      for (int number = 3; number < 1024; ++number) ::close(number);
      ::setenv("OPENSSL_CONF", (directory_ / "openssl.cnf").c_str(), 1);
      ::setenv("OPENSSL_MODULES", KACCEL_MODULE_DIR, 1);
      if (!seeks_leaks) ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
      if (on_real_kernel()) ::setenv("KACCEL_TEST_HARDWARE", "1", 1);
      ::execl(path.c_str(), path.c_str(), argument.c_str(), nullptr);
      ::_exit(127);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  void expect_success(const char* mode) {
    configure();
    EXPECT_EQ(run("life-application", mode), 0) << mode;
  }
  // What is meant to leave contexts behind, or cannot be looked at.
  void expect_success_without_seeking_leaks(const char* mode) {
    configure();
    EXPECT_EQ(run("life-application", mode, false), 0) << mode;
  }

  fs::path directory_;
};

TEST_F(ProcessLife, ExecLeavesNoDescriptor) {
  expect_success("exec-in-place");
}
TEST_F(ProcessLife, ForkVforkAndSpawnLeaveNoDescriptorToOtherPrograms) {
  expect_success("exec-in-children");
}
TEST_F(ProcessLife, ExitsWithContextsAlive) {
  expect_success_without_seeking_leaks("exit-with-live-contexts");
}
TEST_F(ProcessLife, ExitsWithoutTeardown) {
  expect_success("exit-at-once");
}
TEST_F(ProcessLife, ExitsAfterOpensslsCleanup) {
  expect_success("clean-up-and-exit");
}
TEST_F(ProcessLife, ExitsWhileThreadsCipher) {
  configure();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run("life-application", "exit-beside-a-thread"), 0);
}
TEST_F(ProcessLife, AbortsByItsOwnSignalAlone) {
  configure();
  const int status = run("life-application", "abort-in-mid-stream");
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
}
TEST_F(ProcessLife, LoadsAndUnloadsTheProvider) {
  expect_success("load-and-unload");
}
TEST_F(ProcessLife, LoadsTheModuleAgainAfterDlclose) {
  configure("providers = providers\n", "", false);
  EXPECT_EQ(run("life-application", "dlclose-and-load-again"), 0);
}
TEST_F(ProcessLife, FreesContextsAfterUnloading) {
  expect_success("free-after-unloading");
}
TEST_F(ProcessLife, LivesInAPluginThatComesAndGoes) {
  configure();
  EXPECT_EQ(run("life-plugin-host", KACCEL_LIFE_DIR "/liblife-plugin.so"), 0);
}
TEST_F(ProcessLife, WorksWhenPrivilegesGoBeforeTheFirstUse) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to give it up";
  expect_success_without_seeking_leaks("drop-privileges-before-the-first-use");
}
TEST_F(ProcessLife, WorksWhenPrivilegesGoAfterTheFirstUse) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to give it up";
  expect_success_without_seeking_leaks("drop-privileges-after-the-first-use");
}
TEST_F(ProcessLife, WorksWithoutADescriptorLeft) {
  expect_success("no-descriptors-at-first");
}
TEST_F(ProcessLife, WorksWhenDescriptorsRunOutInMidStream) {
  expect_success("no-descriptors-in-mid-stream");
}
TEST_F(ProcessLife, WorksWithoutAddressSpace) {
  expect_success("no-address-space");
}
TEST_F(ProcessLife, KeepsItsSocketsOffTheStandardDescriptors) {
  expect_success("no-standard-descriptors");
}
TEST_F(ProcessLife, WorksAfterClosefromAndLeavesNewDescriptorsAlone) {
  expect_success("close-from-three");
}

// Public report: random numbers and forks. With the section that the example has, and with all that
// people leave out of it.
TEST_F(ProcessLife, RandomNumbersAreSoftwaresAndDifferAfterAFork) {
  expect_success("random-numbers");
}
TEST_F(ProcessLife, RandomNumbersAreSoftwaresWithoutASectionForThem) {
  configure("providers = providers\nalg_section = algorithms\n", "");
  EXPECT_EQ(run("life-application", "random-numbers"), 0);
}

// Wherever the section stands: kaccel adds to it and changes nothing.
TEST_F(ProcessLife, TheRandomGeneratorIsTheConfigurations) {
  for (const char* init :
       {"random = random_sect\nproviders = providers\nalg_section = algorithms\n",
        "providers = providers\nalg_section = algorithms\nrandom = random_sect\n"}) {
    configure(init, "[random_sect]\nrandom = HASH-DRBG\ndigest = SHA256\n");
    EXPECT_EQ(run("life-application", "hash-generator"), 0) << init;
    EXPECT_EQ(run("life-application", "random-numbers"), 0) << init;
  }
}

}  // namespace
}  // namespace kaccel::testing
