#include "provider/config_file.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace kaccel {
namespace {

namespace fs = std::filesystem;

constexpr auto head = R"(openssl_conf = main
[main]
providers = all
[all]
kaccel = own
[own]
)";

class ConfigFileTest : public ::testing::Test {
 protected:
  ConfigFileTest() {
    std::string pattern = (fs::temp_directory_path() / "kaccel-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~ConfigFileTest() override { fs::remove_all(directory_); }

  std::string write(const char* name, const std::string& text) const {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text;
    return path.string();
  }

  // Expects the file to be readable and returns its section.
  ConfigSection read(const std::string& text) const {
    std::string problem;
    auto section = read_config_section(write("openssl.cnf", text), problem);
    EXPECT_TRUE(section) << problem;
    return section.value_or(ConfigSection{});
  }

  std::string problem_of(const std::string& path) const {
    std::string problem;
    EXPECT_FALSE(read_config_section(path, problem));
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
    return problem;
  }

  fs::path directory_;
};

TEST_F(ConfigFileTest, GivesTheRandomGeneratorsSection) {
  EXPECT_EQ(read(std::string(head) + "activate = 1\n").random.type, "");
  const std::string with_random =
      "openssl_conf = init\n[init]\nrandom = generator\nproviders = list\n[generator]\n"
      "random = HASH-DRBG\ndigest = SHA512\n[list]\nkaccel = own\n[own]\nactivate = 1\n";
  const RandomSection section = read(with_random).random;
  EXPECT_EQ(section.type, "HASH-DRBG");
  EXPECT_EQ(section.digest, "SHA512");
  EXPECT_EQ(section.cipher, "");
  EXPECT_EQ(section.properties, "");
}

TEST_F(ConfigFileTest, ReadsTheRandomGeneratorsSectionAsOpensslDoes) {
  const RandomSection section =
      read(
          "openssl_conf = init\n[init]\nrandom.1 = generator\nproviders = list\n[generator]\n"
          "Random = HASH-DRBG\nDIGEST = SHA256\ndigest = SHA512\nProperties = fips=yes\n"
          "[list]\nkaccel = own\n[own]\nactivate = 1\n")
          .random;
  EXPECT_EQ(section.type, "HASH-DRBG");
  EXPECT_EQ(section.digest, "SHA512");
  EXPECT_EQ(section.properties, "fips=yes");
}

TEST_F(ConfigFileTest, GivesTheProvidersSection) {
  const ConfigSection section = read(std::string(head) + "activate = 1\nmax_sessions = 8\n");
  EXPECT_EQ(section.values,
            (std::map<std::string, std::string>{{"activate", "1"}, {"max_sessions", "8"}}));
  EXPECT_EQ(section.unreadable_include, "");
}

TEST_F(ConfigFileTest, FlattensNestedSectionsWithDots) {
  const ConfigSection section = read(std::string(head) +
                                     "thresholds = limits\n"
                                     "[limits]\n"
                                     "AES-128-CBC.driver = cbc-aes-qce\n"
                                     "AES-128-CBC.encrypt = 768\n");
  EXPECT_EQ(section.values,
            (std::map<std::string, std::string>{{"thresholds.AES-128-CBC.driver", "cbc-aes-qce"},
                                                {"thresholds.AES-128-CBC.encrypt", "768"}}));
}

TEST_F(ConfigFileTest, KeepsTheNameOfASectionThatIsNotThere) {
  const ConfigSection section = read(std::string(head) + "thresholds = limits\n");
  EXPECT_EQ(section.values.at("thresholds"), "limits");
}

TEST_F(ConfigFileTest, EndsWhereSectionsNestInEachOther) {
  const ConfigSection section = read(std::string(head) + "thresholds = own\n");
  EXPECT_LE(section.values.size(), 1U);
  ASSERT_TRUE(section.knot);
  EXPECT_EQ(section.knot->section + " " + section.knot->key, "own thresholds");
  EXPECT_NE(section.knot->problem.find("leads back"), std::string::npos);
}

// Which would be a hundred million keys.
TEST_F(ConfigFileTest, EndsWhereSectionsBranchTooOften) {
  std::string text = head;
  for (int depth = 0; depth < 8; ++depth) {
    for (int i = 0; i < 10; ++i) {
      text += "key" + std::to_string(i) + " = deep" + std::to_string(depth) + "\n";
    }
    text += "[deep" + std::to_string(depth) + "]\n";
  }
  const ConfigSection section = read(text);
  ASSERT_TRUE(section.knot);
  EXPECT_NE(section.knot->problem.find("more keys"), std::string::npos);
}

TEST_F(ConfigFileTest, FollowsManyKeysAndSectionsSideBySide) {
  std::string text = std::string(head) + "a = limits\nb = limits\n[limits]\n";
  for (int i = 0; i < 20'000; ++i) text += "key" + std::to_string(i) + " = 1\n";
  const ConfigSection section = read(text);
  EXPECT_FALSE(section.knot);
  EXPECT_EQ(section.values.size(), 40'000U);
}

// Opening it would wait for a writer.
TEST_F(ConfigFileTest, DoesNotOpenAFifoThatIsIncluded) {
  const std::string fifo = (directory_ / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ::alarm(60);  // not a judgement: that is a hang
  const std::string problem =
      problem_of(write("openssl.cnf", std::string(head) + "activate = 1\n.include " + fifo + "\n"));
  ::alarm(0);
  EXPECT_NE(problem.find("openssl.cnf:8: includes " + fifo + ", which is a FIFO"),
            std::string::npos)
      << problem;
}

// An included section goes on where the including file does, so the include comes last.
TEST_F(ConfigFileTest, FollowsIncludes) {
  const std::string included = write("thresholds.cnf", "[limits]\nAES-128-CBC.encrypt = 1\n");
  const ConfigSection section =
      read(std::string(head) + "thresholds = limits\n.include " + included + "\n");
  EXPECT_EQ(section.values.at("thresholds.AES-128-CBC.encrypt"), "1");
}

TEST_F(ConfigFileTest, FollowsAnIncludedDirectory) {
  fs::create_directory(directory_ / "conf.d");
  write("conf.d/a.cnf", "[limits]\nAES-128-CBC.encrypt = 1\n");
  const ConfigSection section = read(std::string(head) + "thresholds = limits\n.include " +
                                     (directory_ / "conf.d").string() + "\n");
  EXPECT_EQ(section.values.at("thresholds.AES-128-CBC.encrypt"), "1");
  EXPECT_EQ(section.unreadable_include, "");
}

TEST_F(ConfigFileTest, TakesAMissingIncludeForNotYetCalibrated) {
  const ConfigSection section =
      read(".include " + (directory_ / "missing.cnf").string() + "\n" + head);
  EXPECT_EQ(section.unreadable_include, "");
}

TEST_F(ConfigFileTest, ReportsAnIncludeThatIsThereAndCannotBeRead) {
  // Root may read everything, so the way to the file is what is broken.
  fs::create_symlink("loop.cnf", directory_ / "loop.cnf");
  const ConfigSection loop = read(".include " + (directory_ / "loop.cnf").string() + "\n" + head);
  EXPECT_NE(loop.unreadable_include.find("loop.cnf"), std::string::npos);
  const std::string file = write("file", "");
  const ConfigSection below = read(".include " + file + "/thresholds.cnf\n" + head);
  EXPECT_NE(below.unreadable_include.find("thresholds.cnf"), std::string::npos);
}

// As an ordinary user, also where the tests run as root.
TEST_F(ConfigFileTest, ReportsAnIncludeWithoutPermission) {
  const std::string included = write("thresholds.cnf", "");
  fs::permissions(included, fs::perms::none);
  fs::permissions(directory_, fs::perms{0755});
  const std::string path = write("openssl.cnf", ".include " + included + "\n" + head);
  const uid_t user = ::geteuid();
  ASSERT_EQ(::seteuid(user == 0 ? 65534 : user), 0);
  std::string problem;
  const auto section = read_config_section(path, problem);
  ASSERT_EQ(::seteuid(user), 0);
  ASSERT_TRUE(section) << problem;
  EXPECT_NE(section->unreadable_include.find("cannot be opened"), std::string::npos);
}

TEST_F(ConfigFileTest, ReportsAnUnreadableIncludeAgainThoughTheErrorIsInTheQueue) {
  fs::create_symlink("loop.cnf", directory_ / "loop.cnf");
  const std::string text = ".include " + (directory_ / "loop.cnf").string() + "\n" + head;
  ERR_clear_error();
  ERR_raise(ERR_LIB_SYS, ELOOP);  // as OpenSSL itself leaves it while it loads providers
  EXPECT_NE(read(text).unreadable_include, "");
  ERR_clear_error();
}

TEST_F(ConfigFileTest, SaysWhichFileIsNotThere) {
  const std::string path = (directory_ / "missing.cnf").string();
  EXPECT_NE(problem_of(path).find(path), std::string::npos);
}

TEST_F(ConfigFileTest, SaysInWhichLineAFileIsBroken) {
  const std::string path = write("broken.cnf", "[main]\nkey = 1\nno equals sign\n");
  EXPECT_NE(problem_of(path).find(path + ":3: "), std::string::npos) << problem_of(path);
}

TEST_F(ConfigFileTest, SaysThatAFileDoesNotNameKaccel) {
  for (const char* text :
       {"", "openssl_conf = main\n", "openssl_conf = main\n[main]\nx = y\n",
        "openssl_conf = main\n[main]\nproviders = all\n[all]\ndefault = d\n",
        "openssl_conf = main\n[main]\nproviders = all\n[all]\nkaccel = gone\n"}) {
    EXPECT_NE(problem_of(write("other.cnf", text)).find("no section for a provider named kaccel"),
              std::string::npos)
        << text;
  }
}

TEST_F(ConfigFileTest, LeavesTheErrorQueueAsItWas) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_USER, 42);
  problem_of((directory_ / "missing.cnf").string());
  problem_of(write("broken.cnf", "no equals sign\n"));
  read(".include " + (directory_ / "missing.cnf").string() + "\n" + head);
  EXPECT_EQ(ERR_GET_REASON(ERR_get_error()), 42);
  EXPECT_EQ(ERR_get_error(), 0U);
}

}  // namespace
}  // namespace kaccel
