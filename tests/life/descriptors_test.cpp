// Someone closes a session's descriptors and has others under their numbers: those get no byte and
// are not closed, and what kaccel is asked for comes out right all the same.
//
// Each case is a child with a kaccel of its own, whose descriptors are the real kernel's. What is
// lost on the way inside kernel-bridge/descriptor.hpp has tests in tests/unit.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_alg.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/life/child.hpp"
#include "tests/life/own_descriptors.hpp"
#include "tests/life/stream.hpp"
#include "tests/support/kaccel_under_test.hpp"

#ifndef AF_ALG
#define AF_ALG 38
#endif
#ifndef SOL_ALG
#define SOL_ALG 279
#endif

namespace kaccel::testing {
namespace {

using Call = Step::Call;

constexpr std::array<std::uint8_t, 16> takers_key{9, 9, 9};

// What stands under a number afterwards, made by its new owner.
class Taker {
 public:
  Taker() = default;
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;
  virtual ~Taker() {
    ::close(own_);
    if (number_ != own_) ::close(number_);
  }
  // Puts itself at `number`, as open(2) may once that is free.
  void take(int number) {
    if (::dup2(own_, number) != number) throw std::runtime_error("dup2 failed");
    number_ = number;
  }
  // "" or what was done to it.
  std::string disturbed() const {
    struct stat mine {};
    struct stat there {};
    if (::fstat(number_, &there) != 0) return name() + " at its number was closed; ";
    if (::fstat(own_, &mine) != 0 || mine.st_ino != there.st_ino) return name() + " is another; ";
    return received() ? name() + " received something; " : "";
  }

 protected:
  virtual std::string name() const = 0;
  virtual bool received() const = 0;
  int own_ = -1;
  int number_ = -1;
};

class TcpTaker final : public Taker {
 public:
  TcpTaker() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    own_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener, generic, size) != 0 || ::listen(listener, 1) != 0 ||
        ::getsockname(listener, generic, &size) != 0 || ::connect(own_, generic, size) != 0 ||
        (peer_ = ::accept(listener, nullptr, nullptr)) < 0) {
      throw std::runtime_error(std::string("TCP: ") + std::strerror(errno));
    }
    ::close(listener);
  }
  ~TcpTaker() override { ::close(peer_); }

 private:
  std::string name() const override { return "the TCP connection"; }
  bool received() const override {
    char byte = 0;
    return ::recv(peer_, &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN;
  }
  int peer_ = -1;
};

class PipeTaker final : public Taker {
 public:
  PipeTaker() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    peer_ = ends[0];
    own_ = ends[1];
  }
  ~PipeTaker() override { ::close(peer_); }

 private:
  std::string name() const override { return "the pipe"; }
  bool received() const override {
    char byte = 0;
    return ::read(peer_, &byte, 1) >= 0 || errno != EAGAIN;
  }
  int peer_ = -1;
};

// An operation of someone else's on the same driver, with another key.
class AlgTaker final : public Taker {
 public:
  AlgTaker() {
    sockaddr_alg address{};
    address.salg_family = AF_ALG;
    std::memcpy(address.salg_type, "skcipher", 8);
    const std::string driver = driver_for(kernel::Algorithm::cbc_aes);
    std::memcpy(address.salg_name, driver.data(), driver.size());
    transform_ = ::socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (::bind(transform_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::setsockopt(transform_, SOL_ALG, ALG_SET_KEY, takers_key.data(), takers_key.size()) != 0 ||
        (own_ = ::accept(transform_, nullptr, nullptr)) < 0) {
      throw std::runtime_error(std::string("AF_ALG: ") + std::strerror(errno));
    }
  }
  ~AlgTaker() override { ::close(transform_); }

 private:
  std::string name() const override { return "the other AF_ALG socket"; }
  // A request that somebody sent to it would be waiting to be computed.
  bool received() const override {
    std::array<std::uint8_t, 16> block{};
    return ::recv(own_, block.data(), block.size(), MSG_DONTWAIT) >= 0 || errno != EAGAIN;
  }
  int transform_ = -1;
};

// Numbers that a session's two sockets had. kaccel opens the transform first.
enum class Taken : std::uint8_t { transform, operation, both, both_in_reverse };
enum class Kind : std::uint8_t { tcp, pipe, alg };
// What kaccel is asked to do first, before everything is freed.
enum class Next : std::uint8_t { request, new_key, new_context, fork, nothing };

constexpr std::array taken_names{"the transform", "the operation", "both", "both in reverse"};
constexpr std::array kind_names{"Tcp", "Pipe", "AlgSocket"};
constexpr std::array next_names{"a request", "a new key", "a new context", "a fork", "freeing"};

std::unique_ptr<Taker> make_taker(Kind kind) {
  if (kind == Kind::tcp) return std::make_unique<TcpTaker>();
  if (kind == Kind::pipe) return std::make_unique<PipeTaker>();
  return std::make_unique<AlgTaker>();
}

const Script& cbc_script() {
  static const Script script{"Cbc",
                             "AES-256-CBC",
                             true,
                             {{Call::init}, {Call::data, 4096}, {Call::data, 4096}, {Call::end}}};
  return script;
}

// A second context, for the pool to want another session or key.
const Script& other_script() {
  static const Script script{
      "Ctr", "AES-128-CTR", true, {{Call::init}, {Call::data, 2000}, {Call::end}}};
  return script;
}

// The children inherit it.
const LibraryContext& reference_library() {
  static const LibraryContext reference = LibraryContext::with_default_provider();
  return reference;
}

Bytes software_result(const Script& script, const Bytes& input) {
  const Bytes no_tag;
  Stream stream(reference_library(), script, input, no_tag);
  stream.run(0, script.steps.size());
  return stream.output();
}

std::string whole(const LibraryContext& library, const Script& script) {
  const Bytes no_tag;
  const Bytes input = test_bytes(8192, 3);
  Stream stream(library, script, input, no_tag);
  if (std::string failed = stream.run(0, script.steps.size()); !failed.empty()) return failed;
  return stream.output() == software_result(script, input)
             ? std::string()
             : std::string("wrong bytes of ") + script.algorithm + "; ";
}

class TakenDescriptors : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!on_real_kernel()) GTEST_SKIP() << "the fake transport has no descriptors";
    ASSERT_TRUE(has_hardware("AES-256-CBC"));
    reference_library();
  }

  static std::string run(Taken taken, Kind kind, Next next) {
    auto kaccel = std::make_unique<KaccelUnderTest>(settings_with_thresholds(0, 0));
    const Bytes no_tag;
    const Bytes input = test_bytes(8192, 3);
    const Bytes expected = software_result(cbc_script(), input);
    auto stream = std::make_unique<Stream>(kaccel->library(), cbc_script(), input, no_tag);
    stream->run(0, 2);
    const std::vector<int> session = own_alg_sockets();
    if (session.size() != 2) return std::to_string(session.size()) + " sockets after one request";

    std::vector<int> numbers;
    if (taken != Taken::operation) numbers.push_back(session[0]);
    if (taken != Taken::transform) numbers.push_back(session[1]);
    if (taken == Taken::both_in_reverse) std::swap(numbers[0], numbers[1]);
    std::vector<std::unique_ptr<Taker>> takers;
    for (const int number : numbers) {
      takers.push_back(make_taker(kind));
      ::close(number);
      takers.back()->take(number);
    }
    const auto disturbed = [&takers] {
      std::string text;
      for (const auto& taker : takers) text += taker->disturbed();
      return text;
    };

    std::string said;
    switch (next) {
      case Next::request:
        break;
      case Next::new_key:
        said = whole(kaccel->library(), cbc_script());
        break;
      case Next::new_context:
        said = whole(kaccel->library(), other_script());
        break;
      case Next::fork:
        said = in_child([&](int) {
          stream->run(2, 4);
          return (stream->output() == expected ? "" : "wrong bytes in a child; ") + disturbed();
        });
        break;
      case Next::nothing:
        stream.reset();
        break;
    }
    said += disturbed();
    if (stream != nullptr) {
      stream->run(2, 4);
      if (stream->output() != expected) said += "wrong bytes; ";
      said += whole(kaccel->library(), cbc_script()) + disturbed();
      stream.reset();
    }
    kaccel.reset();
    said += disturbed();
    takers.clear();
    const std::size_t left = own_alg_sockets().size();
    if (left != 0) said += std::to_string(left) + " AF_ALG sockets are left; ";
    return said;
  }
};

TEST_P(TakenDescriptors, AreLeftAlone) {
  for (std::size_t taken = 0; taken < taken_names.size(); ++taken) {
    for (std::size_t next = 0; next < next_names.size(); ++next) {
      const std::string said = in_child(
          [&](int) { return run(static_cast<Taken>(taken), GetParam(), static_cast<Next>(next)); });
      EXPECT_EQ(said, "") << taken_names.at(taken) << ", then " << next_names.at(next);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, TakenDescriptors, ::testing::Values(Kind::tcp, Kind::pipe, Kind::alg),
                         [](const auto& row) {
                           return std::string(kind_names.at(static_cast<std::size_t>(row.param)));
                         });

// A daemon's start: it closes what it finds, at whatever stage its contexts are, and goes on.
TEST(ClosedDescriptors, AreOpenedAnewAtEveryStage) {
  if (!on_real_kernel()) GTEST_SKIP() << "the fake transport has no descriptors";
  reference_library();
  for (std::size_t stage = 0; stage <= cbc_script().steps.size(); ++stage) {
    const std::string said = in_child([stage](int report) {
      const Bytes no_tag;
      const Bytes input = test_bytes(8192, 3);
      const KaccelUnderTest kaccel(settings_with_thresholds(0, 0));
      Stream stream(kaccel.library(), cbc_script(), input, no_tag);
      stream.run(0, stage);
      close_all_but(report);
      stream.run(stage, cbc_script().steps.size());
      if (stream.output() != software_result(cbc_script(), input))
        return std::string("wrong bytes");
      // Hardware comes back within a few calls.
      const std::uint64_t before = kaccel.counter("hardware-calls");
      for (int i = 0; i < 20; ++i) {
        if (std::string wrong = whole(kaccel.library(), cbc_script()); !wrong.empty()) return wrong;
      }
      return std::string(kaccel.counter("hardware-calls") > before ? "" : "no hardware any more");
    });
    EXPECT_EQ(said, "") << "after " << stage << " steps";
  }
}

}  // namespace
}  // namespace kaccel::testing
