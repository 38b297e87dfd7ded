#include "calibrate/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "calibrate/command_error.hpp"
#include "temporary_directory.hpp"

namespace kaccel::calibrate {
namespace {

TEST(AtomicFile, WritesANewFileThatEveryoneMayRead) {
  const TemporaryDirectory directory;
  const auto path = directory.file("t.cnf");
  replace_file(path, "text");
  EXPECT_EQ(text_of(path), "text");
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0644u);
  EXPECT_EQ(directory.names().size(), 1u);
}

// Root calibrates, often with a umask of 077, and every user's programs read the file.
TEST(AtomicFile, EveryoneMayReadItWhateverTheUmask) {
  const TemporaryDirectory directory;
  const auto path = directory.file("t.cnf");
  const mode_t before = umask(077);
  replace_file(path, "text");
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0644u);
}

TEST(AtomicFile, ReplacesByRenameSoThatAReaderKeepsItsWholeOldFile) {
  const TemporaryDirectory directory;
  const auto path = directory.file("t.cnf");
  write_text(path, "old");
  std::ifstream reader(path);
  replace_file(path, "new");
  std::string seen;
  reader >> seen;
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(directory.names().size(), 1u);
}

TEST(AtomicFile, FollowsALink) {
  const TemporaryDirectory directory;
  write_text(directory.file("real.cnf"), "old");
  std::filesystem::create_symlink("real.cnf", directory.file("link.cnf"));
  replace_file(directory.file("link.cnf"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(directory.file("link.cnf")));
  EXPECT_EQ(text_of(directory.file("real.cnf")), "new");
}

TEST(AtomicFile, TheCheckLeavesNothingBehindAndTheOldFileAlone) {
  const TemporaryDirectory directory;
  const auto path = directory.file("t.cnf");
  write_text(path, "old");
  check_replaceable(path);
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(directory.names().size(), 1u);
}

TEST(AtomicFile, ADirectoryThatIsNotThereIsRefused) {
  const TemporaryDirectory directory;
  EXPECT_THROW(check_replaceable(directory.file("missing/t.cnf")), CommandError);
  EXPECT_THROW(replace_file(directory.file("missing/t.cnf"), "x"), CommandError);
}

TEST(AtomicFile, ADirectoryAsTargetIsRefused) {
  const TemporaryDirectory directory;
  EXPECT_THROW(check_replaceable(directory.path().string()), CommandError);
}

TEST(AtomicFile, ADirectoryWithoutPermissionIsRefused) {
  const TemporaryDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0555), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(1);  // root may write everywhere
    try {
      check_replaceable(directory.file("t.cnf"));
    } catch (const CommandError&) {
      _exit(42);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

// A file size limit stands for the full disk.
TEST(AtomicFile, AWriteThatFailsHalfWayLeavesTheOldFileAndNoOther) {
  const TemporaryDirectory directory;
  const auto path = directory.file("t.cnf");
  write_text(path, "old");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1024, 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      replace_file(path, std::string(100'000, 'x'));
    } catch (const CommandError&) {
      _exit(42);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(directory.names().size(), 1u);
}

}  // namespace
}  // namespace kaccel::calibrate
