#include "provider/special_files.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace kaccel {
namespace {

namespace fs = std::filesystem;

class SpecialFiles : public ::testing::Test {
 protected:
  SpecialFiles() {
    std::string pattern = (fs::temp_directory_path() / "kaccel-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~SpecialFiles() override { fs::remove_all(directory_); }

  std::string file(const char* name, const std::string& text = {}) const {
    const std::string path = (directory_ / name).string();
    std::ofstream(path) << text;
    return path;
  }

  std::string fifo(const char* name) const {
    const std::string path = (directory_ / name).string();
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  fs::path directory_;
};

TEST_F(SpecialFiles, AreThoseThatCannotBeReadAgainAndAgain) {
  EXPECT_STREQ(special_kind(fifo("fifo")), "a FIFO");
  EXPECT_STREQ(special_kind("/dev/zero"), "a device");
  fs::create_symlink("fifo", directory_ / "link");
  EXPECT_STREQ(special_kind((directory_ / "link").string()), "a FIFO");
  for (const std::string& plain :
       {file("file"), directory_.string(), std::string("/dev/null"), directory_.string() + "/none",
        std::string("/proc/crypto"), std::string()}) {
    EXPECT_EQ(special_kind(plain), nullptr) << plain;
  }
}

TEST_F(SpecialFiles, AnIncludeIsReadAsOpensslReadsIt) {
  for (const char* line : {".include /a b", "\t.include=/a b", ".include = /a b # or not\r"}) {
    EXPECT_EQ(included_path(line), "/a b") << line;
  }
  for (const char* line : {"", "include /a", "#.include /a", ".included = /a", ".include"}) {
    EXPECT_FALSE(included_path(line)) << line;
  }
  ::setenv("OPENSSL_CONF_INCLUDE", "/where", 1);
  EXPECT_EQ(included_path(".include a.cnf"), "/where/a.cnf");
  EXPECT_EQ(included_path(".include /a.cnf"), "/a.cnf");
  ::unsetenv("OPENSSL_CONF_INCLUDE");
}

TEST_F(SpecialFiles, AreFoundWithTheirLine) {
  const std::string config = file("a.cnf", "# head\n\n .include = " + fifo("fifo") + "\n");
  const auto found = find_special_include(config);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, (directory_ / "fifo").string());
  EXPECT_STREQ(found->kind, "a FIFO");
  EXPECT_EQ(found->file, config);
  EXPECT_EQ(found->line, 3U);
}

TEST_F(SpecialFiles, AreFoundThroughFilesAndDirectories) {
  fs::create_directory(directory_ / "conf.d");
  const std::string inner =
      file("inner.cnf", "x = 1\n.include " + (directory_ / "conf.d").string() + "\n");
  const std::string config = file("a.cnf", ".include " + inner + "\n");
  EXPECT_FALSE(find_special_include(config));
  fifo("conf.d/no-ending");
  EXPECT_FALSE(find_special_include(config));
  const std::string path = fifo("conf.d/b.cnf");
  const auto found = find_special_include(config);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, path);
  EXPECT_EQ(found->file, inner);
  EXPECT_EQ(found->line, 2U);
}

TEST_F(SpecialFiles, ACircleOfIncludesIsReadOnce) {
  const std::string config = (directory_ / "a.cnf").string();
  const std::string line = ".include " + config + "\n";
  file("a.cnf", line + line + line + "key = .include /dev/zero\n# .include /dev/zero\n");
  EXPECT_FALSE(find_special_include(config));
}

}  // namespace
}  // namespace kaccel
