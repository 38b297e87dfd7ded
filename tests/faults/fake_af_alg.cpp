#include "tests/faults/fake_af_alg.hpp"

#include <fcntl.h>
#include <linux/if_alg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tests/faults/real_system_calls.hpp"

namespace kaccel::testing {

using Kind = SystemCallFault::Kind;

namespace {

FakeAfAlg* the_one = nullptr;

constexpr std::size_t index(SystemCall call) {
  return static_cast<std::size_t>(call);
}

std::uint64_t cookie_of(int number) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return real::getsockopt(number, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

int fail_with(int error) {
  errno = error;
  return -1;
}

}  // namespace

const char* name_of(SystemCall call) {
  constexpr std::array names{"socket",   "fcntl(F_DUPFD_CLOEXEC)",
                             "bind",     "setsockopt(ALG_SET_KEY)",
                             "accept4",  "sendmsg",
                             "recvfrom", "getsockopt",
                             "fstat",    "close"};
  return names.at(index(call));
}

std::string describe(SystemCall call, const SystemCallFault& fault) {
  const std::string name = name_of(call);
  switch (fault.kind) {
    case Kind::error:
      return name + " fails with " + ::strerrorname_np(fault.value);
    case Kind::error_after_half:
      return name + " fails half-way with " + ::strerrorname_np(fault.value);
    case Kind::moves:
      return name + " moves " + std::to_string(fault.value) + "/256 of the bytes";
    case Kind::moves_one_less:
      return name + " moves one byte less";
    case Kind::says_more:
      return name + " says that it moved more";
    case Kind::loses:
      return name + " loses the bytes";
    case Kind::is_closed:
      return name + " finds its number closed";
    case Kind::is_reused:
      return name + " finds another socket under its number";
  }
  return name;
}

struct FakeAfAlg::Transform {
  kernel::Algorithm algorithm{};
  std::string driver;
  std::vector<std::uint8_t> key;
  int operations = 0;  // open ones
};

struct FakeAfAlg::Socket {
  explicit Socket(int number) : cookie(cookie_of(number)) {}
  ~Socket() {
    if (session != nullptr) --transform->operations;
  }

  const std::uint64_t cookie;
  std::shared_ptr<Transform> transform;      // of both kinds once bound
  std::unique_ptr<kernel::Session> session;  // an operation socket's
  bool failed = false;                       // a request did: kaccel must not use it again
  kernel::Direction direction = kernel::Direction::decrypt;
  std::vector<std::uint8_t> iv;
  std::vector<std::uint8_t> pending;  // sent and not yet read
};

// A socket that took over a number, and the other end of it.
struct FakeAfAlg::Stranger {
  int number;
  int peer;
};

FakeAfAlg::FakeAfAlg() {
  if (the_one != nullptr) throw std::logic_error("one FakeAfAlg at a time");
  the_one = this;
  cipher_.set_max_request(std::size_t{1} << 24);
}

FakeAfAlg::~FakeAfAlg() {
  the_one = nullptr;
  for (const auto& [number, socket] : sockets_) real::close(number);
  for (const auto& stranger : strangers_) {
    real::close(stranger->number);
    real::close(stranger->peer);
  }
}

FakeAfAlg* FakeAfAlg::current() {
  return the_one;
}

void FakeAfAlg::set_buffers(int send, int receive) {
  send_buffer_ = send;
  receive_buffer_ = receive;
}

std::uint64_t FakeAfAlg::injected(SystemCall call) const {
  return injected_[index(call)];
}

std::uint64_t FakeAfAlg::injected() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : injected_) sum += count;
  return sum;
}

std::vector<std::string> FakeAfAlg::violations() const {
  std::vector<std::string> all = violations_;
  for (const std::string& text : cipher_.violations()) all.push_back(text);
  for (const auto& stranger : strangers_) {
    if (cookie_of(stranger->number) == 0) all.emplace_back("someone else's socket was closed");
    std::array<char, 8> bytes{};
    if (::recv(stranger->peer, bytes.data(), bytes.size(), MSG_DONTWAIT) >= 0) {
      all.emplace_back("a byte went to someone else's socket");
    }
    const auto left = ::recv(stranger->number, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_PEEK);
    if (left != 6) all.emplace_back("a byte was read from someone else's socket");
  }
  return all;
}

bool FakeAfAlg::knows(int number) {
  const auto found = sockets_.find(number);
  return found != sockets_.end() && found->second->cookie == cookie_of(number);
}

// The fault of this call, counted. Those that happen to the number have happened afterwards.
std::optional<SystemCallFault> FakeAfAlg::next(SystemCall call, int number) {
  calls_.push_back(call);
  if (!plan_) return {};
  const auto fault = plan_(call, calls_.size());
  if (!fault) return {};
  ++injected_[index(call)];
  if (fault->kind == Kind::is_closed || fault->kind == Kind::is_reused) {
    forget(number);
    real::close(number);
  }
  if (fault->kind == Kind::is_reused) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw std::runtime_error("no socket pair");
    }
    if (ends[1] == number) std::swap(ends[0], ends[1]);
    if (ends[0] != number && ::dup2(ends[0], number) != number) {
      throw std::runtime_error("no second number");
    }
    if (ends[0] != number) real::close(ends[0]);
    if (ends[1] <= STDERR_FILENO) {  // not where kaccel must leave nothing
      ends[0] = std::exchange(ends[1], real::duplicate(ends[1], STDERR_FILENO + 1));
      real::close(ends[0]);
    }
    // Something to read, which must stay there.
    if (::write(ends[1], "theirs", 6) != 6) throw std::runtime_error("no write");
    strangers_.push_back(std::make_unique<Stranger>(Stranger{number, ends[1]}));
  }
  return fault;
}

std::pair<int, FakeAfAlg::Socket&> FakeAfAlg::add_socket() {
  const int number = real::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (number < 0) throw std::runtime_error("no socket");
  return {number, *(sockets_[number] = std::make_shared<Socket>(number))};
}

void FakeAfAlg::forget(int number) {
  sockets_.erase(number);
}

int FakeAfAlg::socket() {
  if (const auto fault = next(SystemCall::socket, -1)) return fail_with(fault->value);
  return add_socket().first;
}

int FakeAfAlg::duplicate(int number, int least) {
  const auto fault = next(SystemCall::duplicate, number);
  if (fault && fault->kind == Kind::error) return fail_with(fault->value);
  const int second = real::duplicate(number, least);
  if (second >= 0) sockets_[second] = sockets_.at(number);
  return second;
}

int FakeAfAlg::bind(int number, const sockaddr* address) {
  if (const auto fault = next(SystemCall::bind, number)) return fail_with(fault->value);
  sockaddr_alg wanted{};
  std::memcpy(&wanted, address, sizeof wanted);
  const auto* driver = reinterpret_cast<const char*>(wanted.salg_name);
  const kernel::AlgorithmInfo* row = kernel::find_algorithm(driver);
  if (row == nullptr ||
      std::strcmp(row->socket_type, reinterpret_cast<const char*>(wanted.salg_type)) != 0) {
    return fail_with(ENOENT);
  }
  sockets_.at(number)->transform = std::make_shared<Transform>(Transform{row->id, driver, {}, 0});
  return 0;
}

int FakeAfAlg::set_key(int number, const void* key, std::size_t size) {
  const auto fault = next(SystemCall::set_key, number);
  if (fault && fault->kind == Kind::error) return fail_with(fault->value);
  Transform& transform = *sockets_.at(number)->transform;
  if (transform.operations != 0) {
    if (!was_close_denied_) complain("a key for a transform with an operation socket open");
    return fail_with(EBUSY);
  }
  const auto* bytes = static_cast<const std::uint8_t*>(key);
  transform.key.assign(bytes, bytes + size);
  return fault ? fail_with(fault->value) : 0;
}

int FakeAfAlg::accept(int number) {
  if (const auto fault = next(SystemCall::accept, number)) return fail_with(fault->value);
  const auto transform = sockets_.at(number)->transform;
  const auto [accepted, operation] = add_socket();
  operation.transform = transform;
  if (!cipher_.open(transform->driver.c_str(), transform->algorithm, operation.session) ||
      !operation.session->set_key(transform->key)) {
    throw std::runtime_error("FakeTransport takes no key");
  }
  ++transform->operations;
  return accepted;
}

// As af_alg_sndbuf() counts.
std::size_t FakeAfAlg::capacity() const {
  const auto page = static_cast<int>(::sysconf(_SC_PAGESIZE));
  return static_cast<std::size_t>(std::max(send_buffer_ / page * page, page));
}

long FakeAfAlg::send(int number, const msghdr* message, int flags) {
  auto fault = next(SystemCall::send, number);
  Socket& operation = *sockets_.at(number);
  if (operation.failed) complain("a request on a session that has failed");
  if (number <= STDERR_FILENO) complain("a request through a standard stream's number");
  if (fault && fault->kind == Kind::error && fault->value == EINTR) return fail_with(EINTR);
  operation.failed = fault.has_value() && fault->kind != Kind::loses;
  if (fault && fault->kind == Kind::error) return fail_with(fault->value);
  if (!operation.pending.empty()) return fail_with(EINVAL);

  if (message->msg_controllen != 0) operation.direction = kernel::Direction::decrypt;
  msghdr copy = *message;
  for (cmsghdr* part = CMSG_FIRSTHDR(&copy); part != nullptr; part = CMSG_NXTHDR(&copy, part)) {
    if (part->cmsg_type == ALG_SET_OP) {
      std::uint32_t code = 0;
      std::memcpy(&code, CMSG_DATA(part), sizeof code);
      operation.direction =
          code == ALG_OP_ENCRYPT ? kernel::Direction::encrypt : kernel::Direction::decrypt;
    } else {
      std::uint32_t size = 0;
      std::memcpy(&size, CMSG_DATA(part), sizeof size);
      if (part->cmsg_type != ALG_SET_IV ||
          size != kernel::info(operation.transform->algorithm).iv_size) {
        return fail_with(EINVAL);
      }
      const unsigned char* iv = CMSG_DATA(part) + sizeof size;
      operation.iv.assign(iv, iv + size);
    }
  }

  const bool is_hash = kernel::info(operation.transform->algorithm).digest_size != 0;
  const std::size_t wanted = message->msg_iov->iov_len;
  const auto* bytes = static_cast<const std::uint8_t*>(message->msg_iov->iov_base);
  std::size_t taken = is_hash ? wanted : std::min(wanted, capacity());
  if (taken < wanted && (flags & MSG_DONTWAIT) == 0) complain("a send that waits for ever");
  long said = static_cast<long>(taken);
  if (fault && fault->kind == Kind::moves) {
    taken = taken * static_cast<std::size_t>(fault->value) / 256;
    said = static_cast<long>(taken);
  } else if (fault && fault->kind == Kind::moves_one_less) {
    said = static_cast<long>(--taken);
  } else if (fault && fault->kind == Kind::says_more) {
    said += 16;
  } else if (fault && fault->kind == Kind::loses) {
    return said;
  }
  operation.pending.assign(bytes, bytes + taken);
  if (fault && fault->kind == Kind::error_after_half) return fail_with(fault->value);
  if (taken < wanted) operation.failed = true;
  return said;
}

// All that is pending, through the driver.
int FakeAfAlg::run(Socket& operation, std::uint8_t* output) {
  const kernel::AlgorithmInfo& row = kernel::info(operation.transform->algorithm);
  requests_.push_back(operation.pending.size());
  const auto input = std::exchange(operation.pending, {});
  const kernel::Status status =
      row.digest_size != 0
          ? operation.session->mac(input, {output, row.digest_size})
          : operation.session->crypt({operation.direction, operation.iv, input, output});
  return status ? 0 : EIO;
}

long FakeAfAlg::receive(int number, void* buffer, std::size_t size, int flags) {
  const auto fault = next(SystemCall::receive, number);
  Socket& operation = *sockets_.at(number);
  if (fault && fault->kind == Kind::error && fault->value == EINTR) return fail_with(EINTR);
  if (operation.failed) complain("a read on a session that has failed");
  if (fault) operation.failed = true;
  if (fault && fault->kind == Kind::error) return fail_with(fault->value);
  const std::size_t digest_size = kernel::info(operation.transform->algorithm).digest_size;
  const std::size_t ready = digest_size != 0 ? digest_size : operation.pending.size();
  if (operation.pending.empty() || size > ready) {
    operation.failed = true;
    if ((flags & MSG_DONTWAIT) == 0) complain("a read that waits for ever");
    return fail_with(EAGAIN);
  }
  std::vector<std::uint8_t> output(ready);
  if (const int error = run(operation, output.data()); error != 0) return fail_with(error);
  auto* to = static_cast<std::uint8_t*>(buffer);
  if (!fault) {
    std::memcpy(to, output.data(), size);
    return static_cast<long>(size);
  }
  // What is not moved must not be relied on: half of the rest is overwritten.
  const std::size_t moved = fault->kind == Kind::says_more        ? size
                            : fault->kind == Kind::moves_one_less ? size - 1
                            : fault->kind == Kind::error_after_half
                                ? size / 2
                                : size * static_cast<std::size_t>(fault->value) / 256;
  std::memcpy(to, output.data(), moved);
  std::memset(to + moved, 0xa5, (size - moved + 1) / 2);
  if (fault->kind == Kind::error_after_half) return fail_with(fault->value);
  return static_cast<long>(fault->kind == Kind::says_more ? size + 16 : moved);
}

int FakeAfAlg::get_option(int number, int level, int option, void* value, unsigned int* size) {
  const auto fault = next(SystemCall::get_option, number);
  if (fault && fault->kind == Kind::error) return fail_with(fault->value);
  const bool is_buffer = option == SO_SNDBUF || option == SO_RCVBUF;
  if (!is_buffer || (fault && fault->kind != Kind::error)) {
    return real::getsockopt(number, level, option, value, size);
  }
  const int bytes = option == SO_SNDBUF ? send_buffer_ : receive_buffer_;
  std::memcpy(value, &bytes, sizeof bytes);
  return 0;
}

int FakeAfAlg::stat(int number, struct stat* result) {
  const auto fault = next(SystemCall::stat, number);
  if (fault && fault->kind == Kind::error) {
    ++may_stay_open_;
    return fail_with(fault->value);
  }
  return real::fstat(number, result);
}

// Linux closes the number whatever it answers. A filter does not let it.
int FakeAfAlg::close(int number) {
  const auto fault = next(SystemCall::close, number);
  const int error = fault && fault->kind == Kind::error ? fault->value : 0;
  if (error == EPERM || error == EACCES || error == ENOSYS) {
    was_close_denied_ = true;
    ++may_stay_open_;
    return fail_with(error);
  }
  if (!knows(number)) return fail_with(EBADF);
  forget(number);
  real::close(number);
  return error != 0 ? fail_with(error) : 0;
}

}  // namespace kaccel::testing
