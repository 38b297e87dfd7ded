// kaccel on an AF_ALG whose system calls fail: every call of a scenario, with everything that it
// can answer. Whatever the kernel does, the application sees what OpenSSL's own provider shows.
//
// By default each call meets a third of its faults, another third than its neighbours;
// KACCEL_FAULTS=few: a ninth, KACCEL_FAULTS=all: all.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "kernel-bridge/af_alg_transport.hpp"
#include "provider/algorithms.hpp"
#include "provider/embed.hpp"
#include "tests/differential/random_sequence.hpp"
#include "tests/faults/fake_af_alg.hpp"
#include "tests/faults/possible_faults.hpp"
#include "tests/faults/scenario.hpp"
#include "tests/support/evp.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::testing {
namespace {

using Kind = SystemCallFault::Kind;
using Bytes = std::vector<std::uint8_t>;

constexpr int one_page = 4608;  // of a send buffer: what is not a whole page does not count

// Of a call's faults every so manieth is tried.
std::size_t faults_apart() {
  const char* chosen = std::getenv("KACCEL_FAULTS");
  if (chosen == nullptr) return 3;
  return std::string_view(chosen) == "all" ? 1 : 9;
}
bool all_faults() {
  return faults_apart() == 1;
}

// One algorithm on AF_ALG, everything to hardware. The fake AF_ALG's drivers are called as their
// algorithms.
Settings hardware_for(const char* algorithm, std::size_t sessions) {
  Settings settings;
  settings.calibrated = true;
  settings.max_sessions = sessions;
  const std::size_t row = find_algorithm(algorithm);
  AlgorithmSettings& chosen = settings.algorithms.at(row);
  chosen.driver = kernel::info(algorithm_table.at(row).kernel_algorithm).kernel_name;
  chosen.encrypt = chosen.decrypt = always_hardware;
  return settings;
}

class Kaccel {
 public:
  Kaccel(const char* algorithm, std::size_t sessions)
      : context_(OSSL_LIB_CTX_new()),
        provider_(load_embedded(context_.get(), hardware_for(algorithm, sessions), nullptr,
                                Offered::only_routed)) {
    if (provider_ == nullptr) throw std::runtime_error("kaccel does not load");
  }

  OSSL_LIB_CTX* library() const { return context_.get(); }
  std::uint64_t counter(const char* name) const { return provider_counter(provider_.get(), name); }

 private:
  LibraryContextPointer context_;
  ProviderPointer provider_;
};

// One run of a scenario on a kernel with this plan.
struct Observed {
  std::vector<SystemCall> calls;
  std::uint64_t injected = 0;
  std::uint64_t hardware_calls = 0;
  std::uint64_t fallbacks = 0;
  Bytes seen;
  std::vector<std::string> complaints;  // the application's, and the kernel's
};

Observed run_on(const Scenario& scenario, FakeAfAlg::Plan plan) {
  Observed result;
  FakeAfAlg kernel;
  kernel.set_buffers(one_page, one_page);
  kernel.set_plan(std::move(plan));
  {
    const Kaccel kaccel(scenario.algorithm, scenario.sessions);
    Transcript transcript = run(scenario, kaccel.library());
    result.seen = transcript.bytes();
    result.complaints = transcript.complaints();
    result.hardware_calls = kaccel.counter("hardware-calls");
    result.fallbacks = kaccel.counter("fallbacks");
  }
  for (const std::string& text : kernel.violations()) result.complaints.push_back(text);
  // Two faults can leave kaccel with a number of which it cannot tell whose it is. It must not be
  // closed then.
  if (kernel.open_sockets() > kernel.may_stay_open()) {
    result.complaints.push_back(std::to_string(kernel.open_sockets()) + " sockets stay open");
  }
  if (scenario.without_input && kernel.may_stay_open() == 0 &&
      ::fcntl(STDIN_FILENO, F_GETFD) != -1) {
    result.complaints.emplace_back("something is left under standard input's number");
  }
  result.calls = kernel.calls();
  result.injected = kernel.injected();
  return result;
}

// Put back at the end.
class StandardInputClosed {
 public:
  StandardInputClosed() : kept_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100)) {
    ::close(STDIN_FILENO);
  }
  StandardInputClosed(const StandardInputClosed&) = delete;
  StandardInputClosed& operator=(const StandardInputClosed&) = delete;
  ~StandardInputClosed() {
    if (kept_ < 0) return;
    ::dup2(kept_, STDIN_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

// Told of all calls in order. Between its creation and its identification nobody can tell one
// socket from another.
class Unidentified {
 public:
  // Whether the call comes in that time.
  bool operator()(SystemCall call) {
    const bool was = std::exchange(is_, call == SystemCall::socket || call == SystemCall::accept);
    if (!was) return false;
    // Moved to another number, and then its fstat(2) and its SO_COOKIE.
    if (call == SystemCall::duplicate || call == SystemCall::close || call == SystemCall::stat) {
      is_ = true;
    }
    return true;
  }

 private:
  bool is_ = false;
};

class SystemCallFaults : public ::testing::TestWithParam<Scenario> {
 protected:
  void SetUp() override {
    if (GetParam().without_input) input_closed_.emplace();
    const auto library = LibraryContext::with_default_provider();
    const Transcript transcript = run(GetParam(), library.get());
    ASSERT_EQ(transcript.complaints(), std::vector<std::string>{});
    expected_ = transcript.bytes();
    clean_ = run_on(GetParam(), {});
    ASSERT_EQ(clean_.seen, expected_);
    ASSERT_EQ(clean_.complaints, std::vector<std::string>{});
    ASSERT_EQ(clean_.fallbacks, 0U);
    ASSERT_GT(clean_.hardware_calls, 2U);
    ASSERT_EQ(makes(SystemCall::duplicate), GetParam().without_input);
  }

  bool makes(SystemCall call) const {
    return std::count(clean_.calls.begin(), clean_.calls.end(), call) != 0;
  }

  void expect_right(const Observed& faulty, const std::string& what) {
    EXPECT_EQ(faulty.complaints, std::vector<std::string>{}) << what;
    EXPECT_TRUE(faulty.seen == expected_) << what << ": the application sees something else";
    EXPECT_LE(faulty.hardware_calls + faulty.fallbacks,
              clean_.hardware_calls + GetParam().beyond_a_request)
        << what;
  }

  std::optional<StandardInputClosed> input_closed_;
  Bytes expected_;
  Observed clean_;
};

bool harms_nothing(SystemCall call, const SystemCallFault& fault) {
  if (fault.kind != Kind::error) return false;
  switch (call) {
    case SystemCall::stat:
      return false;
    case SystemCall::close:  // done all the same
      return fault.value == EINTR || fault.value == EIO || fault.value == EBADF;
    case SystemCall::get_option:  // asked for in another way
      return true;
    default:  // repeated
      return fault.value == EINTR;
  }
}

TEST_P(SystemCallFaults, at_each_call_once_are_answered_by_software) {
  std::array<std::size_t, system_call_count> injected{};
  Unidentified unidentified;
  for (std::size_t n = 1; n <= clean_.calls.size(); ++n) {
    const SystemCall call = clean_.calls[n - 1];
    const bool is_new = unidentified(call);
    std::size_t number = n;
    for (const SystemCallFault& fault : possible_faults(call)) {
      if (++number % faults_apart() != 0) continue;
      if (is_new && fault.kind == Kind::is_reused) continue;
      const std::string what = "call " + std::to_string(n) + ": " + describe(call, fault);
      const Observed faulty = run_on(GetParam(), [&](SystemCall, std::uint64_t which) {
        return which == n ? std::optional(fault) : std::nullopt;
      });
      expect_right(faulty, what);
      EXPECT_EQ(faulty.injected, 1U) << what;
      if (harms_nothing(call, fault)) {
        EXPECT_EQ(faulty.fallbacks, 0U) << what;
        EXPECT_EQ(faulty.hardware_calls, clean_.hardware_calls) << what;
      } else if (call == SystemCall::send || call == SystemCall::receive) {
        EXPECT_GE(faulty.fallbacks, 1U) << what;
      }
      ++injected.at(static_cast<std::size_t>(call));
      if (HasFailure()) return;
    }
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i < system_call_count; ++i) {
    // A few may leave out a call that is made once.
    if (faults_apart() <= 3 && makes(static_cast<SystemCall>(i))) {
      EXPECT_GE(injected.at(i), 1U) << name_of(static_cast<SystemCall>(i));
    }
    std::printf("%s %zu, ", name_of(static_cast<SystemCall>(i)), injected.at(i));
    sum += injected.at(i);
  }
  EXPECT_GE(sum, clean_.calls.size() / 2);
  std::printf("%s: %zu faults in %zu calls\n", GetParam().name, sum, clean_.calls.size());
}

// From the first or from a later one on, so that the driver is taken out or tried anew.
TEST_P(SystemCallFaults, at_each_call_from_then_on_are_answered_by_software) {
  std::size_t runs = 0;
  std::size_t number = 0;
  std::uint64_t injected = 0;
  for (std::size_t i = 0; i < system_call_count; ++i) {
    const auto call = static_cast<SystemCall>(i);
    if (!makes(call)) continue;
    for (const SystemCallFault& fault : possible_faults(call)) {
      if (fault.kind == Kind::is_reused || (fault.kind == Kind::error && fault.value == EINTR)) {
        continue;  // who interrupts for ever is not to be outlasted
      }
      ++number;
      std::size_t place = number;  // each fault from another call on
      for (const std::uint64_t first : {1U, 2U, 5U}) {
        if (place++ % faults_apart() != 0) continue;
        std::uint64_t times = 0;
        const std::string what = std::to_string(first) + " and on: " + describe(call, fault);
        const Observed faulty = run_on(GetParam(), [&](SystemCall which, std::uint64_t) {
          return which == call && ++times >= first ? std::optional(fault) : std::nullopt;
        });
        expect_right(faulty, what);
        if (first == 1) {
          EXPECT_GE(faulty.injected, 1U) << what;
        }
        injected += faulty.injected;
        ++runs;
        if (HasFailure()) return;
      }
    }
  }
  std::printf("%s: %llu faults in %zu runs\n", GetParam().name,
              static_cast<unsigned long long>(injected), runs);
  EXPECT_GE(runs, 300 / faults_apart());
}

// SO_COOKIE does not say whose a number is, and fstat(2), asked in its place, does not either, or
// finds the number closed or reused.
TEST_P(SystemCallFaults, that_hide_whose_a_number_is_leave_it_alone) {
  for (const SystemCallFault second :
       {SystemCallFault{Kind::error, EACCES}, SystemCallFault{Kind::is_closed},
        SystemCallFault{Kind::is_reused}}) {
    std::uint64_t hidden = 0;
    for (std::size_t n = 1; n <= clean_.calls.size(); ++n) {
      if (clean_.calls[n - 1] != SystemCall::get_option) continue;
      const Observed faulty = run_on(
          GetParam(), [&](SystemCall call, std::uint64_t which) -> std::optional<SystemCallFault> {
            if (which == n) return SystemCallFault{Kind::error, EACCES};
            if (which == n + 1 && call == SystemCall::stat) return second;
            return {};
          });
      expect_right(faulty, "call " + std::to_string(n) + ": " + describe(SystemCall::stat, second));
      if (HasFailure()) return;
      if (faulty.injected == 2) ++hidden;
    }
    EXPECT_GE(hidden, 4U);
  }
}

// KACCEL_TEST_SEED is the first seed.
TEST_P(SystemCallFaults, at_random_calls_are_answered_by_software) {
  const auto first = static_cast<std::uint32_t>(number_from_environment("KACCEL_TEST_SEED", 1));
  const std::uint32_t rounds = all_faults() ? 2000 : 40;
  std::array<std::uint64_t, system_call_count> injected{};
  for (std::uint32_t seed = first; seed < first + rounds; ++seed) {
    std::mt19937 random(seed);
    const std::uint32_t one_in = 3 + seed % 29;
    Unidentified unidentified;
    const Observed faulty =
        run_on(GetParam(), [&](SystemCall call, std::uint64_t) -> std::optional<SystemCallFault> {
          const bool is_new = unidentified(call);
          if (random() % one_in != 0) return {};
          const auto faults = possible_faults(call);
          const SystemCallFault& fault = faults[random() % faults.size()];
          if (is_new && fault.kind == Kind::is_reused) return {};
          ++injected.at(static_cast<std::size_t>(call));
          return fault;
        });
    expect_right(faulty, "seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
  // A socket that cannot be identified is closed, so that those come last and least.
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < system_call_count; ++i) {
    const auto call = static_cast<SystemCall>(i);
    EXPECT_EQ(injected.at(i) != 0, makes(call)) << name_of(call);
    sum += injected.at(i);
  }
  std::printf("%s: %llu faults in %u runs\n", GetParam().name, static_cast<unsigned long long>(sum),
              rounds);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SystemCallFaults, ::testing::ValuesIn(scenarios()),
                         [](const auto& instance) { return instance.param.name; });

// Any calls that an application makes, not those of a scenario.
TEST(SystemCallFaultsInRandomSequences, are_answered_by_software) {
  const auto first = static_cast<std::uint32_t>(number_from_environment("KACCEL_TEST_SEED", 1));
  const std::uint32_t rounds = all_faults() ? 5000 : 100;
  const auto reference_library = LibraryContext::with_default_provider();
  std::uint64_t injected = 0;
  std::uint64_t hardware_calls = 0;
  for (std::uint32_t seed = first; seed < first + rounds; ++seed) {
    constexpr std::array algorithms{"AES-128-CBC", "AES-256-CTR", "AES-128-ECB", "DES-EDE3-CBC"};
    const char* algorithm = algorithms.at(seed % algorithms.size());
    std::mt19937 random(seed);
    FakeAfAlg kernel;
    kernel.set_buffers(one_page, one_page);
    kernel.set_plan([&](SystemCall call, std::uint64_t) -> std::optional<SystemCallFault> {
      if (random() % 16 != 0) return {};
      const auto faults = possible_faults(call);
      const SystemCallFault& fault = faults[random() % faults.size()];
      if (fault.kind == Kind::is_reused || fault.kind == Kind::is_closed) return {};
      return fault;
    });
    {
      const Kaccel kaccel(algorithm, 1 + seed % 4);
      const CipherPointer reference = fetch_cipher(reference_library, algorithm);
      const CipherPointer subject(EVP_CIPHER_fetch(kaccel.library(), algorithm, nullptr));
      ASSERT_NE(subject, nullptr);
      const std::string difference =
          RandomSequence({reference.get(), subject.get(), always_hardware, always_hardware}, seed)
              .run();
      ASSERT_EQ(difference, "") << "seed " << seed;
      hardware_calls += kaccel.counter("hardware-calls");
    }
    EXPECT_EQ(kernel.violations(), std::vector<std::string>{}) << "seed " << seed;
    EXPECT_LE(kernel.open_sockets(), kernel.may_stay_open()) << "seed " << seed;
    injected += kernel.injected();
  }
  std::printf("%llu faults, %llu calls answered by hardware\n",
              static_cast<unsigned long long>(injected),
              static_cast<unsigned long long>(hardware_calls));
  EXPECT_GT(injected, rounds);
  EXPECT_GT(hardware_calls, rounds);
}

// Small buffers ----------------------------------------------------------------------------------

std::size_t request_limit(int send_buffer, int receive_buffer) {
  FakeAfAlg kernel;
  kernel.set_buffers(send_buffer, receive_buffer);
  const auto transport = kernel::make_af_alg_transport();
  std::unique_ptr<kernel::Session> session;
  EXPECT_TRUE(transport->open("cbc(aes)", kernel::Algorithm::cbc_aes, session));
  const Bytes key(16, 1);
  EXPECT_TRUE(session->set_key(key));
  return session->max_request();
}

TEST(SendBuffer, is_the_most_that_a_request_carries_in_whole_pages_and_one_at_least) {
  EXPECT_EQ(request_limit(212992, 212992), 208896U);    // a page of the receive buffer stays free
  EXPECT_EQ(request_limit(4 << 20, 4 << 20), 262144U);  // the kernel's lists have limits, too
  EXPECT_EQ(request_limit(10000, 212992), 8192U);
  EXPECT_EQ(request_limit(212992, 10000), 8192U);
  EXPECT_EQ(request_limit(8192, 8192), 8192U);
  EXPECT_EQ(request_limit(8191, 8192), 4096U);
  EXPECT_EQ(request_limit(4608, 2304), 4096U);  // the least that Linux lets one set
  EXPECT_EQ(request_limit(0, 0), 4096U);
  EXPECT_EQ(request_limit(-1, 4096), 4096U);
}

// AES-128-CBC, always under the same key and IV.
class Encryptor {
 public:
  explicit Encryptor(OSSL_LIB_CTX* library)
      : cipher_(EVP_CIPHER_fetch(library, "AES-128-CBC", nullptr)), context_(EVP_CIPHER_CTX_new()) {
    const Bytes key(16, 1);
    EXPECT_EQ(EVP_EncryptInit_ex2(context_.get(), cipher_.get(), key.data(), nullptr, nullptr), 1);
  }

  // In one update.
  Bytes encrypt(const Bytes& input) {
    const Bytes iv(16, 2);
    Bytes output(input.size() + 16);
    int written = 0;
    EXPECT_EQ(EVP_EncryptInit_ex2(context_.get(), nullptr, nullptr, iv.data(), nullptr), 1);
    EXPECT_EQ(EVP_EncryptUpdate(context_.get(), output.data(), &written, input.data(),
                                static_cast<int>(input.size())),
              1);
    output.resize(static_cast<std::size_t>(written));
    return output;
  }

 private:
  CipherPointer cipher_;
  CipherContextPointer context_;
};

Bytes encrypt_in_software(const Bytes& input) {
  const auto library = LibraryContext::with_default_provider();
  return Encryptor(library.get()).encrypt(input);
}

TEST(SendBuffer, however_small_makes_no_call_wait_for_ever) {
  const Bytes input(100000, 0x3c);
  for (const int bytes : {0, 2304, 4608, 8192, 65536, 212992}) {
    FakeAfAlg kernel;
    kernel.set_buffers(bytes, bytes);
    const Kaccel kaccel("AES-128-CBC", 8);
    EXPECT_EQ(Encryptor(kaccel.library()).encrypt(input), encrypt_in_software(input)) << bytes;
    EXPECT_EQ(kaccel.counter("fallbacks"), 0U) << bytes;
    EXPECT_EQ(kernel.violations(), std::vector<std::string>{}) << bytes;
    const auto page = static_cast<std::size_t>(std::max(bytes, 4096)) / 4096 * 4096;
    EXPECT_EQ(kernel.requests().size(), (input.size() + page - 1) / page) << bytes;
  }
}

// The kernel takes less than it said it would: the buffer shrank after the session was opened.
TEST(SendBuffer, that_shrinks_under_a_session_loses_nothing) {
  const Bytes input(50000, 0x3c);
  const Bytes expected = encrypt_in_software(input);
  FakeAfAlg kernel;
  const Kaccel kaccel("AES-128-CBC", 8);
  Encryptor encryptor(kaccel.library());
  EXPECT_EQ(encryptor.encrypt(input), expected);
  EXPECT_EQ(kaccel.counter("fallbacks"), 0U);
  kernel.set_buffers(one_page, one_page);
  EXPECT_EQ(encryptor.encrypt(input), expected);
  EXPECT_EQ(kaccel.counter("fallbacks"), 1U);
  // The session that comes after knows.
  EXPECT_EQ(encryptor.encrypt(input), expected);
  EXPECT_EQ(kaccel.counter("fallbacks"), 1U);
  EXPECT_EQ(kernel.requests().back(), input.size() % 4096);
  EXPECT_EQ(kernel.violations(), std::vector<std::string>{});
}

// Late answers -----------------------------------------------------------------------------------

// The request was taken, and the wait for it returns the driver's error.
class LateError : public ::testing::TestWithParam<int> {};

TEST_P(LateError, is_answered_by_software_and_hardware_goes_on_afterwards) {
  const Bytes input(4096, 0x3c);
  const Bytes expected = encrypt_in_software(input);
  FakeAfAlg kernel;
  const Kaccel kaccel("AES-128-CBC", 8);
  std::uint64_t reads = 0;
  kernel.set_plan([&](SystemCall call, std::uint64_t) -> std::optional<SystemCallFault> {
    if (call != SystemCall::receive || ++reads != 2) return {};
    return SystemCallFault{Kind::error_after_half, GetParam()};
  });
  Encryptor encryptor(kaccel.library());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(encryptor.encrypt(input), expected);
  EXPECT_EQ(kernel.injected(), 1U);
  // A shortage also keeps the next call from hardware.
  const std::uint64_t lost = GetParam() == ENOMEM ? 2 : 1;
  EXPECT_EQ(kaccel.counter("fallbacks"), lost);
  EXPECT_EQ(kaccel.counter("hardware-calls"), 5 - lost);
  EXPECT_EQ(kernel.violations(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Errors, LateError,
                         ::testing::Values(EBUSY, ENOMEM, EINPROGRESS, EIO, ENXIO),
                         [](const auto& instance) { return ::strerrorname_np(instance.param); });

// kaccel has no time-out for a driver that never answers, since Linux has none: what waits for it
// in recv(2) cannot be interrupted. But it never waits for bytes that the kernel does not have.
TEST(LostRequest, is_not_waited_for) {
  const Bytes input(4096, 0x3c);
  FakeAfAlg kernel;
  const Kaccel kaccel("AES-128-CBC", 8);
  kernel.set_plan([](SystemCall call, std::uint64_t) -> std::optional<SystemCallFault> {
    if (call != SystemCall::send) return {};
    return SystemCallFault{Kind::loses};
  });
  EXPECT_EQ(Encryptor(kaccel.library()).encrypt(input), encrypt_in_software(input));
  EXPECT_EQ(kaccel.counter("fallbacks"), 1U);
  EXPECT_EQ(kernel.injected(SystemCall::send), 1U);
  EXPECT_EQ(kernel.violations(), std::vector<std::string>{});
}

}  // namespace
}  // namespace kaccel::testing
