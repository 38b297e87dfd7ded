// AF_ALG without a kernel: the system calls that kaccel makes on its sockets end here, do what
// Linux would do, and can be made to fail in every way that Linux can.
//
// The program is linked with --wrap for each of these calls, so that kaccel's own code is what it
// is everywhere else. The sockets are real ones of another family: identity, closing and numbers
// that become someone else's are the running kernel's. What is on the other side of them is
// simulated (kernel: crypto/af_alg.c, algif_skcipher.c, algif_hash.c), with FakeTransport to
// cipher.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_transport.hpp"

struct msghdr;
struct stat;
struct sockaddr;

namespace kaccel::testing {

enum class SystemCall : std::uint8_t {
  socket,
  duplicate,  // fcntl(F_DUPFD_CLOEXEC)
  bind,
  set_key,  // setsockopt(ALG_SET_KEY)
  accept,
  send,
  receive,
  get_option,  // getsockopt: identity and buffer sizes
  stat,
  close,
};
inline constexpr std::size_t system_call_count = 10;
const char* name_of(SystemCall call);

struct SystemCallFault {
  enum class Kind : std::uint8_t {
    error,             // nothing is done; `value` is the errno
    error_after_half,  // the work is half done, the buffer half written; then the errno `value`
    moves,             // of `n` bytes only so many are moved, and said to be: n * value / 256
    moves_one_less,
    says_more,  // all are moved, and more are said to be
    loses,      // a send takes all, and the kernel has none of it
    is_closed,  // before the call someone closes the number
    is_reused,  // before the call the number becomes another socket, of someone's
  };
  Kind kind;
  int value = 0;
};
std::string describe(SystemCall call, const SystemCallFault& fault);

// One at a time in a process, and for one thread.
class FakeAfAlg {
 public:
  FakeAfAlg();
  FakeAfAlg(const FakeAfAlg&) = delete;
  FakeAfAlg& operator=(const FakeAfAlg&) = delete;
  ~FakeAfAlg();

  // Asked at each call, with the number of calls so far (this one included). Nothing: it goes well.
  using Plan = std::function<std::optional<SystemCallFault>(SystemCall, std::uint64_t number)>;
  void set_plan(Plan plan) { plan_ = std::move(plan); }

  // What SO_SNDBUF and SO_RCVBUF answer, in bytes. The kernel counts in whole pages, one at least.
  void set_buffers(int send, int receive);

  // All calls, in order.
  const std::vector<SystemCall>& calls() const { return calls_; }
  // Faults that happened at each call.
  std::uint64_t injected(SystemCall call) const;
  std::uint64_t injected() const;
  // Bytes of each request that went to a driver.
  const std::vector<std::size_t>& requests() const { return requests_; }
  // Sockets that kaccel has not closed and nobody took from it.
  std::size_t open_sockets() const { return sockets_.size(); }
  // Those of them that may be open: a close was denied, or fstat(2) did not say whose one is.
  std::size_t may_stay_open() const { return may_stay_open_; }
  // What kaccel did that it must not, one line each: a call that would wait for ever, a request on
  // a session that has failed, a request through a standard stream's number, a byte to someone
  // else's socket, and FakeTransport's violations.
  std::vector<std::string> violations() const;

  // The system calls. `known` numbers only; false: none of ours.
  bool knows(int number);
  int socket();
  int duplicate(int number, int least);
  int bind(int number, const sockaddr* address);
  int set_key(int number, const void* key, std::size_t size);
  int accept(int number);
  long send(int number, const msghdr* message, int flags);
  long receive(int number, void* buffer, std::size_t size, int flags);
  int get_option(int number, int level, int option, void* value, unsigned int* size);
  int stat(int number, struct stat* result);
  int close(int number);

  static FakeAfAlg* current();

 private:
  struct Transform;
  struct Socket;
  struct Stranger;

  std::optional<SystemCallFault> next(SystemCall call, int number);
  std::pair<int, Socket&> add_socket();
  void forget(int number);
  void complain(const std::string& text) { violations_.push_back(text); }
  std::size_t capacity() const;
  int run(Socket& operation, std::uint8_t* output);

  FakeTransport cipher_;
  Plan plan_;
  int send_buffer_ = 212992;
  int receive_buffer_ = 212992;
  std::vector<SystemCall> calls_;
  std::array<std::uint64_t, system_call_count> injected_{};
  std::vector<std::size_t> requests_;
  std::map<int, std::shared_ptr<Socket>> sockets_;  // a duplicate shares its socket
  std::vector<std::unique_ptr<Stranger>> strangers_;
  std::vector<std::string> violations_;
  std::size_t may_stay_open_ = 0;
  bool was_close_denied_ = false;
};

}  // namespace kaccel::testing
