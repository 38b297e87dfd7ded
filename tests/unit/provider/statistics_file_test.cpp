// The file into which all processes of a program count.

#include "provider/statistics_file.hpp"

#include <errno.h>  // program_invocation_short_name
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kaccel::testing {
namespace {

namespace fs = std::filesystem;

class StatisticsFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kaccel-statistics-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override {
    program_invocation_short_name = own_name_;
    fs::remove_all(directory_);
  }

  void call_program(const char* name) { program_invocation_short_name = const_cast<char*>(name); }

  StatisticsFile open() {
    problem_.clear();
    return StatisticsFile::open(directory_.string(), problem_);
  }
  std::string path(const char* name) const {
    return (directory_ / (name + ("." + std::to_string(::geteuid())))).string();
  }
  Statistics read(const char* name) {
    const auto counts = read_statistics(path(name), problem_);
    EXPECT_TRUE(counts) << problem_;
    return counts.value_or(Statistics{});
  }

  char* const own_name_ = program_invocation_short_name;
  fs::path directory_;
  std::string problem_;
};

TEST_F(StatisticsFileTest, CountsOfAllProcessesAddUpAndOutliveThem) {
  call_program("first");
  {
    const StatisticsFile one = open();
    ASSERT_NE(one.counters(), nullptr) << problem_;
    one.counters()->algorithms[3].hardware_calls += 2;
    const pid_t child = ::fork();
    if (child == 0) {
      // Inherited, and opened anew as another process of the program does.
      one.counters()->algorithms[3].hardware_bytes += 100;
      one.counters()->sessions.requests += 5;
      const StatisticsFile other = open();
      if (other.counters() != nullptr) other.counters()->algorithms[3].hardware_bytes += 11;
      ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_EQ(one.counters()->algorithms[3].hardware_bytes.load(), 111U);
  }
  const Statistics counts = read("first");
  EXPECT_EQ(counts.algorithms[3].hardware_calls, 2U);
  EXPECT_EQ(counts.algorithms[3].hardware_bytes, 111U);
  EXPECT_EQ(counts.requests, 5U);
  EXPECT_EQ(counts.algorithms[0].hardware_calls, 0U);
}

TEST_F(StatisticsFileTest, EachProgramHasItsOwnThatNobodyElseMayRead) {
  call_program("one");
  const StatisticsFile one = open();
  call_program("two");
  const StatisticsFile two = open();
  ASSERT_TRUE(one.counters() != nullptr && two.counters() != nullptr) << problem_;
  one.counters()->algorithms[0].fallbacks += 1;
  EXPECT_EQ(read("one").algorithms[0].fallbacks, 1U);
  EXPECT_EQ(read("two").algorithms[0].fallbacks, 0U);
  struct stat status {};
  ASSERT_EQ(::stat(path("one").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 2)
      << "a draft was left behind";
}

TEST_F(StatisticsFileTest, ANameCannotLeadElsewhere) {
  for (const char* name : {"../up", "a/b", ".hidden", "", "with space\n"}) {
    call_program(name);
    EXPECT_NE(open().counters(), nullptr) << name << ": " << problem_;
  }
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const std::string file = entry.path().filename().string();
    EXPECT_EQ(file.find_first_of(" \n/"), std::string::npos) << file;
    EXPECT_NE(file.front(), '.') << file;
  }
  call_program("..");
  EXPECT_NE(open().counters(), nullptr);
}

TEST_F(StatisticsFileTest, WhatAnotherVersionWroteIsReplaced) {
  call_program("old");
  std::ofstream(path("old")) << "something else";
  EXPECT_FALSE(read_statistics(path("old"), problem_));
  EXPECT_NE(problem_.find("version"), std::string::npos) << problem_;
  const StatisticsFile file = open();
  ASSERT_NE(file.counters(), nullptr) << problem_;
  EXPECT_EQ(read("old").requests, 0U);
}

TEST_F(StatisticsFileTest, NothingThatIsNoFileOfTheUserIsTouched) {
  call_program("link");
  const fs::path target = directory_ / "target";
  std::ofstream(target) << "precious";
  fs::create_symlink(target, path("link"));
  EXPECT_EQ(open().counters(), nullptr);
  EXPECT_NE(problem_.find(path("link")), std::string::npos) << problem_;
  EXPECT_EQ(fs::file_size(target), 8U);

  call_program("pipe");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(open().counters(), nullptr);

  if (::geteuid() == 0) {
    call_program("other");
    std::ofstream(path("other")) << "theirs";
    ASSERT_EQ(::chown(path("other").c_str(), 65534, 65534), 0);
    EXPECT_EQ(open().counters(), nullptr);
    EXPECT_TRUE(fs::exists(path("other")));
  }
}

// SIGXFSZ would end the program.
TEST_F(StatisticsFileTest, AProgramThatMayNotWriteFilesGoesOn) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{};
    const bool limited = ::setrlimit(RLIMIT_FSIZE, &none) == 0;
    ::_exit(limited && open().counters() == nullptr &&
                    problem_.find("File too large") != problem_.npos
                ? 0
                : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_empty(directory_)) << "a draft was left behind";
}

TEST_F(StatisticsFileTest, AnyUmaskLeavesAFileThatCanBeUsedAgain) {
  call_program("masked");
  const mode_t before = ::umask(0777);
  EXPECT_NE(open().counters(), nullptr) << problem_;
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path("masked").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(StatisticsFileTest, AMissingDirectoryIsNamed) {
  directory_ /= "missing";
  EXPECT_EQ(open().counters(), nullptr);
  EXPECT_NE(problem_.find("missing/"), std::string::npos) << problem_;
  EXPECT_NE(problem_.find("No such file"), std::string::npos) << problem_;
  directory_ = directory_.parent_path();
}

}  // namespace
}  // namespace kaccel::testing
