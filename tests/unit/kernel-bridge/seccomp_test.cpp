// Under real seccomp filters. Each test is a child process, since a filter never comes off; a child
// that made a system call that its filter forbids is told by the signal's name.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernel-bridge/af_alg_transport.hpp"
#include "kernel-bridge/cipher_run.hpp"
#include "kernel-bridge/descriptor.hpp"
#include "kernel-bridge/proc_crypto.hpp"
#include "kernel-bridge/seccomp_state.hpp"
#include "kernel-bridge/session_pool.hpp"
#include "tests/support/seccomp_filter.hpp"
#include "tests/unit/kernel-bridge/pool_fixture.hpp"

namespace kaccel::kernel {
namespace {

using testing::deny_af_alg;
using testing::in_child;
using testing::put_on_filter;
using testing::put_on_openssh_filter;

#define NEED(what) \
  if (!(what)) return std::string("not so: " #what)

// Sessions of real sockets, as AF_ALG's are.
class SocketTransport final : public Transport {
 public:
  Status open(const char*, Algorithm, std::unique_ptr<Session>& session) noexcept override {
    const int number = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (number < 0) return {Failure::no_descriptors, errno};
    Descriptor socket;
    if (!socket.adopt(number)) return {Failure::descriptor_lost, 0};
    last = number;
    session.reset(new (std::nothrow) SocketSession(std::move(socket)));
    return session ? success : Status{Failure::no_memory, ENOMEM};
  }

  int last = -1;

 private:
  class SocketSession final : public Session {
   public:
    explicit SocketSession(Descriptor&& socket) noexcept : socket_(std::move(socket)) {}
    void abandon() noexcept override { socket_.abandon(); }
    Status set_key(std::span<const std::uint8_t>) noexcept override { return success; }
    Status crypt(const CipherRequest&) noexcept override { return success; }
    std::size_t max_request() const noexcept override { return 4096; }

   private:
    Descriptor socket_;
  };
};

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

// Everything a test may want, made before the filter unless it says otherwise.
struct Setting {
  explicit Setting(UnderSeccomp policy = UnderSeccomp::avoid) : pool(transport, 8, policy) {
    name_driver(driver, "socket", Algorithm::cbc_aes);
  }
  Failure use(std::uint32_t key = 1) {
    Context context{pool, driver, key_number(key)};
    return context.use().failure;
  }
  // As the provider does it, with what follows for the driver.
  Failure run() {
    SessionPool::Handle handle;
    const Bytes key = key_number(1);
    std::array<std::uint8_t, 16> iv{};
    std::array<std::uint8_t, 32> input{};
    std::array<std::uint8_t, 32> output{};
    return run_cipher(pool, handle,
                      {driver, Direction::encrypt, key, iv.data(), input.data(), output.data(), 32})
        .status.failure;
  }

  SocketTransport transport;
  BoundDriver driver;
  SessionPool pool;
};

bool process_is_free() {
  return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) <= 0;
}

// Since Linux 5.9.
bool kernel_counts_filters() {
  return read_text_file("/proc/self/status").find("\nSeccomp_filters:") != std::string::npos;
}

// ThreadSanitizer has a thread of its own in every process, and a filter on the first of several
// threads is not taken for the whole process's.
#ifdef __SANITIZE_THREAD__
#define NEEDS_ONE_THREAD GTEST_SKIP() << "ThreadSanitizer's own thread is there"
#else
#define NEEDS_ONE_THREAD static_cast<void>(0)
#endif

class SeccompTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!process_is_free()) GTEST_SKIP() << "these tests run under a seccomp filter themselves";
    if (in_child([] { return put_on_filter({}) ? "" : "no"; }) != "") {
      GTEST_SKIP() << "this kernel has no seccomp filters";
    }
  }
};

TEST_F(SeccompTest, SeesThatThereIsNoFilter) {
  EXPECT_EQ(seccomp_state().finding, SeccompFinding::nothing);
  EXPECT_FALSE(seccomp_filter_in_force());
}

TEST_F(SeccompTest, CountsTheFilters) {
  EXPECT_EQ(in_child([] {
              NEED(put_on_filter({}));
              const SeccompState one = seccomp_state();
              NEED(one.finding == SeccompFinding::filtered);
              NEED(put_on_filter({}));
              const SeccompState two = seccomp_state();
              NEED(!kernel_counts_filters() || (one.filters == 1 && two.filters == 2));
              NEED(seccomp_filter_in_force());
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, TakesARefusedQuestionForAFilter) {
  EXPECT_EQ(in_child([] {
              NEED(put_on_openssh_filter());
              const SeccompState state = seccomp_state();
              NEED(state.finding == SeccompFinding::refused);
              NEED(state.error_number == EACCES);
              NEED(seccomp_filter_in_force());
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, AsksOtherwiseInAChrootWithoutProc) {
  if (::geteuid() != 0) GTEST_SKIP() << "chroot(2) needs root";
  std::string directory = ::testing::TempDir() + "chroot-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  EXPECT_EQ(in_child([&] {
              NEED(::chroot(directory.c_str()) == 0);
              NEED(seccomp_state().finding == SeccompFinding::nothing);
              Setting free;
              NEED(free.use() == Failure::none);
              NEED(put_on_filter({}));
              NEED(seccomp_state().finding == SeccompFinding::filtered);
              Setting filtered;
              NEED(filtered.use() == Failure::sandboxed);
              return std::string();
            }),
            "");
  ::rmdir(directory.c_str());
}

// The directory is closed to the user, which looks like a sandbox's refusal but is none.
TEST_F(SeccompTest, AsksOtherwiseWhereTheUserMayNotLook) {
  if (::geteuid() != 0) GTEST_SKIP() << "chroot(2) and setuid(2) need root";
  std::string directory = ::testing::TempDir() + "chroot-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  EXPECT_EQ(in_child([&] {
              NEED(::chroot(directory.c_str()) == 0 && ::chdir("/") == 0);
              NEED(::setgid(65534) == 0 && ::setuid(65534) == 0);
              NEED(::open("/proc/self/status", O_RDONLY) < 0 && errno == EACCES);
              NEED(seccomp_state().finding == SeccompFinding::nothing);
              Setting free;
              NEED(free.use() == Failure::none);
              return std::string();
            }),
            "");
  ::rmdir(directory.c_str());
}

// A child that only puts down, or copies, what it inherited does not ask for hardware.
TEST_F(SeccompTest, PuttingDownWhatWasInheritedIsNoSystemCall) {
  Setting parent;
  SessionPool::Handle handle;
  {
    SessionPool::Lease lease;
    const Bytes key = key_number(1);
    ASSERT_TRUE(parent.pool.borrow({parent.driver, Direction::encrypt, key}, handle, lease));
  }
  EXPECT_EQ(in_child([&] {
              NEED(put_on_filter({{SYS_openat, SECCOMP_RET_KILL_PROCESS},
                                  {SYS_prlimit64, SECCOMP_RET_KILL_PROCESS},
                                  {SYS_getsockopt, SECCOMP_RET_KILL_PROCESS},
                                  {SYS_close, SECCOMP_RET_KILL_PROCESS}}));
              SessionPool::Handle copy = parent.pool.share(handle);
              NEED(copy.key_load == 0);
              parent.pool.release(copy);
              parent.pool.release(handle);
              NEED(handle.key_load == 0);
              parent.pool.~SessionPool();
              return std::string();
            }),
            "");
  parent.pool.release(handle);
}

// Made before the filter, the second thread has none.
TEST_F(SeccompTest, AFilterOfTheFirstThreadIsItsOwn) {
  EXPECT_EQ(in_child([] {
              Setting setting;
              std::atomic<int> step{0};
              Failure second = Failure::driver_error;
              std::thread thread([&] {
                while (step.load() != 1) std::this_thread::yield();
                second = setting.run();
              });
              const bool is_on = put_on_filter({});
              const Failure first = setting.run();
              const bool is_out = setting.driver.health.is_out();
              step = 1;
              thread.join();
              NEED(is_on);
              NEED(first == Failure::thread_sandboxed);
              NEED(!is_out);
              NEED(second == Failure::none);
              NEED(setting.run() == Failure::thread_sandboxed);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, ReadsPastALongListOfGroups) {
  if (::geteuid() != 0) GTEST_SKIP() << "setgroups(2) needs root";
  EXPECT_EQ(in_child([] {
              std::vector<gid_t> groups;
              for (gid_t group = 100000; group < 130000; ++group) groups.push_back(group);
              NEED(::setgroups(groups.size(), groups.data()) == 0);
              NEED(seccomp_state().finding == SeccompFinding::nothing);
              NEED(put_on_filter({}));
              NEED(seccomp_state().finding == SeccompFinding::filtered);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, DoesNotMistakeAShortageForAFilter) {
  EXPECT_EQ(in_child([] {
              Setting setting;
              rlimit limit{};
              NEED(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
              const rlimit none{0, limit.rlim_max};
              NEED(::setrlimit(RLIMIT_NOFILE, &none) == 0);
              NEED(seccomp_state().finding == SeccompFinding::cannot_tell);
              NEED(setting.run() == Failure::no_descriptors);
              NEED(!setting.driver.health.is_out());
              NEED(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
              NEED(setting.use() == Failure::none);
              return std::string();
            }),
            "");
}

// Without the guard these two children die of SIGSYS.
TEST_F(SeccompTest, KeepsAfAlgFromASandboxThatKillsAtSocket) {
  NEEDS_ONE_THREAD;
  EXPECT_EQ(in_child([] {
              const auto transport = make_af_alg_transport();
              BoundDriver driver;
              name_driver(driver, "cbc-aes-qce", Algorithm::cbc_aes);
              SessionPool pool(*transport, 8, UnderSeccomp::avoid);
              NEED(put_on_filter({{SYS_socket, SECCOMP_RET_KILL_PROCESS}}));
              Context context{pool, driver, key_number(1)};
              NEED(context.use().failure == Failure::sandboxed);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, KeepsAfAlgFromASandboxLikeOpenSsh) {
  EXPECT_EQ(in_child([] {
              // UndefinedBehaviorSanitizer looks at a type with system calls, once: before the
              // filter.
              make_af_alg_transport();
              const auto transport = make_af_alg_transport();
              BoundDriver driver;
              name_driver(driver, "cbc-aes-qce", Algorithm::cbc_aes);
              SessionPool pool(*transport, 8, UnderSeccomp::avoid);
              NEED(put_on_openssh_filter());
              Context context{pool, driver, key_number(1)};
              NEED(context.use().failure == Failure::sandboxed);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, DoesNothingOnceTheAnswerIsNo) {
  NEEDS_ONE_THREAD;
  EXPECT_EQ(in_child([] {
              Setting setting;
              NEED(put_on_filter({}));
              NEED(setting.use() == Failure::sandboxed);
              NEED(put_on_filter({{SYS_openat, SECCOMP_RET_KILL_PROCESS}}));
              for (std::uint32_t key = 0; key < 3; ++key) {
                NEED(setting.use(key) == Failure::sandboxed);
              }
              NEED(setting.run() == Failure::sandboxed);
              NEED(setting.driver.health.is_out());
              NEED(setting.run() == Failure::driver_taken_out);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, DoesNotAskAgainForASessionThatIsOpen) {
  EXPECT_EQ(in_child([] {
              // Stays, since its end would ask.
              Setting& setting = *new Setting;
              Context context{setting.pool, setting.driver, key_number(1)};
              NEED(context.use());
              NEED(put_on_filter({{SYS_openat, SECCOMP_RET_KILL_PROCESS}}));
              NEED(context.use());
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, AsksAgainBeforeItOpensAnotherSession) {
  NEEDS_ONE_THREAD;
  EXPECT_EQ(in_child([] {
              Setting setting;
              NEED(setting.use(1) == Failure::none);
              NEED(put_on_filter({}));
              BoundDriver other;
              name_driver(other, "other", Algorithm::ctr_aes);
              Context context{setting.pool, other, key_number(2)};
              NEED(context.use().failure == Failure::sandboxed);
              NEED(setting.use(1) == Failure::sandboxed);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, ClosesNothingUnderAFilterThatCameLater) {
  EXPECT_EQ(in_child([] {
              auto setting = std::make_unique<Setting>();
              NEED(setting->use() == Failure::none);
              NEED(put_on_openssh_filter());
              setting.reset();
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, LeavesTheParentsSessionsAloneInASandboxedChild) {
  EXPECT_EQ(in_child([] {
              Setting setting;
              Context context{setting.pool, setting.driver, key_number(1)};
              NEED(context.use());
              const std::string child = in_child([&] {
                auto* own = new SessionPool(setting.transport, 8, UnderSeccomp::avoid);
                NEED(put_on_openssh_filter());
                setting.pool.release(context.handle);
                NEED(context.use().failure == Failure::sandboxed);
                NEED(setting.pool.counters().sessions_open == 0);
                delete own;
                return std::string();
              });
              if (!child.empty()) return "in the child: " + child;
              NEED(is_open(setting.transport.last));
              NEED(context.use());
              NEED(setting.pool.counters().sessions_opened == 1);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, HoldsForOneThreadAlone) {
  EXPECT_EQ(in_child([] {
              Setting setting;
              Context context{setting.pool, setting.driver, key_number(1)};
              NEED(context.use());
              std::string other = "the thread did not run";
              std::thread([&] {
                other = [&] {
                  NEED(put_on_filter({{SYS_getsockopt, SECCOMP_RET_KILL_PROCESS}}));
                  NEED(seccomp_state().finding == SeccompFinding::filtered);
                  NEED(setting.run() == Failure::thread_sandboxed);
                  return std::string();
                }();
              }).join();
              if (!other.empty()) return "in the thread: " + other;
              NEED(seccomp_state().finding == SeccompFinding::nothing);
              NEED(!setting.driver.health.is_out());
              NEED(context.use());
              NEED(setting.use(2) == Failure::none);
              return std::string();
            }),
            "");
}

TEST_F(SeccompTest, UsesHardwareUnderTheFiltersOfTheStartWhereThatIsWanted) {
  NEEDS_ONE_THREAD;
  EXPECT_EQ(in_child([] {
              NEED(put_on_filter({}));
              Setting setting(UnderSeccomp::as_made);
              NEED(setting.use(1) == Failure::none);
              Setting avoiding;
              NEED(avoiding.use() == Failure::sandboxed);
              NEED(setting.use(2) == Failure::none);
              const std::string child = in_child([&] {
                NEED(setting.use() == Failure::none);
                return std::string();
              });
              if (!child.empty()) return "in the child: " + child;
              if (!kernel_counts_filters()) return std::string();
              return in_child([&] {
                NEED(put_on_filter({}));
                NEED(setting.use() == Failure::sandboxed);
                return std::string();
              });
            }),
            "");
}

class DeniedTest : public SeccompTest, public ::testing::WithParamInterface<int> {};

TEST_P(DeniedTest, TakesADriverOutWhoseSocketIsDenied) {
  EXPECT_EQ(in_child([] {
              NEED(deny_af_alg(GetParam()));
              const auto transport = make_af_alg_transport();
              Setting setting;
              SessionPool pool(*transport, 8, UnderSeccomp::as_made);
              Context context{pool, setting.driver, key_number(1)};
              const Status status = context.use();
              NEED(status.failure == Failure::denied);
              NEED(status.error_number == GetParam());
              note_health(setting.driver, status);
              NEED(setting.driver.health.is_out());
              return std::string();
            }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Errno, DeniedTest, ::testing::Values(EPERM, EACCES, ENOSYS),
                         [](const auto& each) {
                           return each.param == EPERM    ? "EPERM"
                                  : each.param == EACCES ? "EACCES"
                                                         : "ENOSYS";
                         });

}  // namespace
}  // namespace kaccel::kernel
