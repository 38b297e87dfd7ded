// A program linked against libcrypto that never heard of kaccel, in one way of living and ending:
//
//   life-application MODE      0: every byte was the default provider's; the modes are at the end
//
// With KACCEL_TEST_HARDWARE set it also wants hardware to have answered where the mode lets it.

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern char** environ;

namespace {

using Bytes = std::vector<unsigned char>;

const char* program = nullptr;
constexpr int data_size = 16384;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s (errno: %s)\n", what.c_str(), std::strerror(errno));
  std::fflush(nullptr);
  ::_exit(1);
}

void need(bool ok, const char* what) {
  if (!ok) fail(what);
}

// An encryption that can be stopped in the middle; freed by whoever wants that.
struct Operation {
  EVP_CIPHER* cipher;
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  std::string algorithm;
  Bytes key;

  Operation(OSSL_LIB_CTX* library, const char* name, unsigned char first_key_byte = 1,
            const char* properties = nullptr)
      : cipher(EVP_CIPHER_fetch(library, name, properties)),
        algorithm(name),
        key(32, first_key_byte) {
    const Bytes iv(16, 3);
    need(cipher != nullptr && context != nullptr, "the cipher cannot be fetched");
    need(EVP_EncryptInit_ex2(context, cipher, key.data(), iv.data(), nullptr) == 1, "init");
  }
  Bytes update(int size = data_size) const {
    const Bytes data(static_cast<std::size_t>(size), 0x5a);
    Bytes out(data.size());
    int written = 0;
    need(EVP_EncryptUpdate(context, out.data(), &written, data.data(), size) == 1, "update");
    need(written == size, "an update's length");
    return out;
  }
  void free() {
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(cipher);
  }
};

// The first two updates as the default provider makes them.
Bytes expected_of(const char* algorithm, unsigned char first_key_byte, bool second) {
  Operation software(nullptr, algorithm, first_key_byte, "provider=default");
  Bytes out = software.update();
  if (second) out = software.update();
  software.free();
  return out;
}

void check_first(const Operation& operation) {
  need(operation.update() == expected_of(operation.algorithm.c_str(), operation.key[0], false),
       "wrong bytes");
}
void check_second(const Operation& operation) {
  need(operation.update() == expected_of(operation.algorithm.c_str(), operation.key[0], true),
       "wrong bytes in the second update");
}

// One encryption from beginning to end.
void use(OSSL_LIB_CTX* library = nullptr, unsigned char key = 1) {
  for (const char* algorithm : {"AES-256-CBC", "AES-128-CTR"}) {
    Operation operation(library, algorithm, key);
    check_first(operation);
    check_second(operation);
    operation.free();
  }
}

std::uint64_t counter(const char* name, OSSL_LIB_CTX* library = nullptr) {
  OSSL_PROVIDER* kaccel = OSSL_PROVIDER_load(library, "kaccel");
  need(kaccel != nullptr, "kaccel is not loaded");
  std::uint64_t value = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_uint64(name, &value), OSSL_PARAM_construct_end()};
  need(OSSL_PROVIDER_get_params(kaccel, params) == 1, "kaccel has no counters");
  OSSL_PROVIDER_unload(kaccel);
  return value;
}

std::uint64_t hardware_calls(OSSL_LIB_CTX* library = nullptr) {
  return counter("hardware-calls", library);
}

// Also those that it did not answer, since there is none.
std::uint64_t calls_meant_for_hardware() {
  return hardware_calls() + counter("fallbacks");
}

bool has_hardware() {
  return std::getenv("KACCEL_TEST_HARDWARE") != nullptr;
}

void need_hardware_since(std::uint64_t before, OSSL_LIB_CTX* library = nullptr) {
  if (has_hardware()) need(hardware_calls(library) > before, "hardware answered nothing");
}

// Numbers of open descriptors, without the one that looks.
std::vector<int> open_descriptors() {
  std::vector<int> open;
  for (int number = 0; number < 1024; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) open.push_back(number);
  }
  return open;
}

void need_standard_descriptors_alone(const char* what) {
  for (const int number : open_descriptors()) {
    if (number > 2) fail("descriptor " + std::to_string(number) + " " + what);
  }
}

bool is_mapped(const char* file) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.find(file) != std::string::npos) return true;
  }
  return false;
}

void need_success_of(pid_t child, const char* what) {
  int status = 0;
  need(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
       what);
}

// Modes -----------------------------------------------------------------------------------------

// What an executed program inherits: standard descriptors and nothing else.
int descriptors() {
  need_standard_descriptors_alone("was inherited");
  return 0;
}

int exec_in_place() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  need_hardware_since(0);
  if (has_hardware()) need(open_descriptors().size() > 3, "no session is open");
  ::execl(program, program, "descriptors", nullptr);
  fail("exec");
}

int exec_in_children() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  std::array<char*, 3> arguments{const_cast<char*>(program), const_cast<char*>("descriptors"),
                                 nullptr};
  const pid_t forked = ::fork();
  if (forked == 0) ::execv(program, arguments.data());
  need_success_of(forked, "fork and exec");
  const pid_t vforked = ::vfork();
  if (vforked == 0) {
    ::execv(program, arguments.data());
    ::_exit(9);
  }
  need_success_of(vforked, "vfork and exec");
  pid_t spawned = -1;
  need(::posix_spawn(&spawned, program, nullptr, nullptr, arguments.data(), environ) == 0, "spawn");
  need_success_of(spawned, "posix_spawn");
  // The child that shared this memory for a moment has changed nothing.
  check_second(live);
  live.free();
  need_hardware_since(0);
  return 0;
}

// Contexts alive, at the mercy of OpenSSL's exit handler.
int exit_with_live_contexts() {
  auto* live = new Operation(nullptr, "AES-256-CBC");
  check_first(*live);
  auto* other = new Operation(nullptr, "AES-128-CTR");
  check_first(*other);
  need_hardware_since(0);
  std::exit(0);
}

int exit_at_once() {
  use();
  need_hardware_since(0);
  ::_exit(0);
}

int abort_in_mid_stream() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  need_hardware_since(0);
  std::abort();
}

int clean_up_and_exit() {
  use();
  need_hardware_since(0);
  OPENSSL_cleanup();
  need_standard_descriptors_alone("is open after the cleanup");
  return 0;
}

// Threads cipher until the process is gone from under them. Each has its cipher before: OpenSSL
// cannot fetch while it cleans up.
int exit_beside_a_thread() {
  std::array<std::atomic<unsigned>, 2> rounds_of_each{};
  constexpr std::array algorithms{"AES-256-CBC", "AES-128-CTR"};
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    std::thread([&rounds = rounds_of_each[i], algorithm = algorithms[i]] {
      Operation live(nullptr, algorithm);
      for (;;) {
        live.update();
        ++rounds;
      }
    }).detach();
  }
  for (const auto& rounds : rounds_of_each) {
    while (rounds < 10) std::this_thread::yield();
  }
  need_hardware_since(0);
  std::exit(0);
}

int load_and_unload() {
  for (int round = 0; round < 10; ++round) {
    OSSL_LIB_CTX* library = OSSL_LIB_CTX_new();
    OSSL_PROVIDER* standard = OSSL_PROVIDER_load(library, "default");
    need(OSSL_LIB_CTX_load_config(library, std::getenv("OPENSSL_CONF")) == 1, "the configuration");
    OSSL_PROVIDER* kaccel = OSSL_PROVIDER_load(library, "kaccel");
    need(kaccel != nullptr && is_mapped("kaccel.so"), "kaccel is not loaded");
    use(library, static_cast<unsigned char>(round));
    need_hardware_since(0, library);
    OSSL_PROVIDER_unload(kaccel);
    OSSL_PROVIDER_unload(standard);
    OSSL_LIB_CTX_free(library);
    need_standard_descriptors_alone("is open after the unloading");
  }
  return 0;
}

// Loaded by the application alone, so that unloading means dlclose.
int dlclose_and_load_again() {
  for (int round = 0; round < 10; ++round) {
    OSSL_LIB_CTX* library = OSSL_LIB_CTX_new();
    need(OSSL_LIB_CTX_load_config(library, std::getenv("OPENSSL_CONF")) == 1, "the configuration");
    need(!is_mapped("kaccel.so"), "the configuration loads kaccel");
    OSSL_PROVIDER* kaccel = OSSL_PROVIDER_load(library, "kaccel");
    need(kaccel != nullptr && is_mapped("kaccel.so"), "kaccel is not loaded");
    Operation operation(library, "AES-256-CBC", 1, "provider=kaccel");
    check_first(operation);
    need_hardware_since(0, library);
    if (has_hardware()) need(open_descriptors().size() > 3, "no session is open");
    operation.free();
    OSSL_PROVIDER_unload(kaccel);
    OSSL_LIB_CTX_free(library);
    need(!is_mapped("kaccel.so"), "kaccel.so is still mapped");
    need_standard_descriptors_alone("is open after the unloading");
  }
  return 0;
}

// OpenSSL keeps a provider for as long as an algorithm of it is held.
int free_after_unloading() {
  OSSL_LIB_CTX* library = OSSL_LIB_CTX_new();
  need(OSSL_LIB_CTX_load_config(library, std::getenv("OPENSSL_CONF")) == 1, "the configuration");
  OSSL_PROVIDER* kaccel = OSSL_PROVIDER_load(library, "kaccel");
  Operation live(library, "AES-256-CBC", 1, "provider=kaccel");
  check_first(live);
  need_hardware_since(0, library);
  OSSL_PROVIDER_unload(kaccel);
  check_second(live);
  live.free();
  OSSL_LIB_CTX_free(library);
  return 0;
}

void drop_privileges() {
  char directory[] = "/tmp/kaccel-life-XXXXXX";
  need(::mkdtemp(directory) != nullptr, "mkdtemp");
  need(::chroot(directory) == 0 && ::chdir("/") == 0, "chroot");
  need(::setgid(65534) == 0 && ::setuid(65534) == 0, "setuid");
  need(::access("/proc/self", F_OK) != 0, "/proc is still there");
}

int drop_privileges_before_the_first_use() {
  need(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr) == 1, "the configuration");
  Operation small(nullptr, "AES-256-CBC");
  small.update(16);
  need(hardware_calls() == 0, "hardware was used too early");
  drop_privileges();
  use();
  need_hardware_since(0);
  small.free();
  return 0;
}

int drop_privileges_after_the_first_use() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  const std::uint64_t before = hardware_calls();
  drop_privileges();
  check_second(live);
  live.free();
  need_hardware_since(before);
  const std::uint64_t again = hardware_calls();
  use(nullptr, 2);
  need_hardware_since(again);
  return 0;
}

void limit_descriptors(rlim_t most) {
  rlimit limit{};
  need(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
  limit.rlim_cur = most;
  need(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

// A shortage that has passed is noticed, though not at once.
void need_hardware_to_come_back() {
  const std::uint64_t before = hardware_calls();
  for (int i = 0; i < 50; ++i) use(nullptr, static_cast<unsigned char>(i));
  need_hardware_since(before);
}

int no_descriptors_at_first() {
  need(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr) == 1, "the configuration");
  hardware_calls();
  limit_descriptors(3);
  for (int i = 0; i < 3; ++i) use(nullptr, static_cast<unsigned char>(i));
  need(hardware_calls() == 0, "hardware without a descriptor");
  need(open_descriptors().size() == 3, "a descriptor was opened");
  limit_descriptors(256);
  need_hardware_to_come_back();
  return 0;
}

int no_descriptors_in_mid_stream() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  // One descriptor is left: enough for half a session.
  limit_descriptors(static_cast<rlim_t>(open_descriptors().back()) + 2);
  const std::uint64_t before = hardware_calls();
  check_second(live);
  need_hardware_since(before);
  for (int i = 0; i < 3; ++i) use(nullptr, static_cast<unsigned char>(i));
  const std::size_t open = open_descriptors().size();
  need(::dup(0) >= 0 && open_descriptors().size() == open + 1, "the last descriptor is gone");
  limit_descriptors(256);
  need_hardware_to_come_back();
  live.free();
  return 0;
}

// Not enough address space for what hardware would want, enough for software.
int no_address_space() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  const Bytes expected = expected_of("AES-256-CBC", 1, true);
  const Bytes data(data_size, 0x5a);
  Bytes out(data.size());
  rlimit limit{};
  need(::getrlimit(RLIMIT_AS, &limit) == 0, "getrlimit");
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 4096;
  need(::setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
  int written = 0;
  const int result = EVP_EncryptUpdate(live.context, out.data(), &written, data.data(), data_size);
  limit.rlim_cur = before;
  need(::setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
  need(result == 1 && out == expected, "wrong bytes without memory");
  live.free();
  return 0;
}

// As sshd and other daemons begin: closefrom(3) after the configuration has been loaded and used.
int close_from_three() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  for (int number = 3; number < 1024; ++number) ::close(number);
  // The first numbers are someone else's now.
  std::array<int, 2> connection{};
  std::array<int, 2> other{};
  need(::socketpair(AF_UNIX, SOCK_STREAM, 0, connection.data()) == 0, "socketpair");
  need(::pipe2(other.data(), O_NONBLOCK) == 0, "pipe");
  check_second(live);
  live.free();
  use(nullptr, 2);
  char byte = 0;
  for (const int end : connection) {
    need(::recv(end, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "the connection got a byte");
  }
  need(::read(other[0], &byte, 1) < 0 && errno == EAGAIN, "the pipe got a byte");
  need(::send(connection[0], "x", 1, MSG_NOSIGNAL) == 1, "the connection was closed");
  need(::write(other[1], "x", 1) == 1, "the pipe was closed");
  need_hardware_to_come_back();
  return 0;
}

// Started without standard input, output and error: what is printed must not reach a session.
int no_standard_descriptors() {
  need(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr) == 1, "the configuration");
  for (int number = 0; number < 3; ++number) ::close(number);
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  for (const int number : open_descriptors()) {
    if (number < 3) return 3;  // there is nowhere to say so
  }
  need_hardware_since(0);
  check_second(live);
  live.free();
  return 0;
}

Bytes random_bytes(std::size_t size) {
  Bytes bytes(size);
  need(RAND_bytes(bytes.data(), static_cast<int>(size)) == 1, "RAND_bytes");
  return bytes;
}

// Parent and child draw after a fork while AES goes to hardware, and the generator itself never
// goes there.
int random_numbers() {
  Operation live(nullptr, "AES-256-CBC");
  check_first(live);
  need_hardware_since(0);
  const std::uint64_t before = calls_meant_for_hardware();
  std::vector<Bytes> drawn;
  // Up to more than the generator gives at once, which is 64 KiB.
  for (const std::size_t size : {16U, 512U, 4096U, 100000U}) drawn.push_back(random_bytes(size));
  Bytes secret(4096);
  need(RAND_priv_bytes(secret.data(), static_cast<int>(secret.size())) == 1, "RAND_priv_bytes");
  need(RAND_poll() == 1, "a reseed");
  drawn.push_back(random_bytes(4096));
  need(calls_meant_for_hardware() == before, "the random generator went to hardware");
  for (const Bytes& bytes : drawn) {
    // No byte of so many stands more often than twice its due.
    std::array<std::size_t, 256> count{};
    for (const unsigned char byte : bytes) ++count[byte];
    need(bytes.size() < 4096 ||
             *std::max_element(count.begin(), count.end()) < bytes.size() / 128 + 16,
         "not random");
  }

  constexpr std::size_t size = 4096;
  std::array<int, 2> ends{};
  need(::pipe(ends.data()) == 0, "pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    check_second(live);
    const Bytes bytes = random_bytes(size);
    const bool sent = ::write(ends[1], bytes.data(), size) == ssize_t{size};
    ::_exit(sent ? 0 : 1);
  }
  check_second(live);
  const Bytes mine = random_bytes(size);
  Bytes theirs(size);
  need(::read(ends[0], theirs.data(), size) == ssize_t{size}, "the child sent nothing");
  need_success_of(child, "the child");
  // Not one block is the same.
  std::map<Bytes, int> blocks;
  for (std::size_t at = 0; at < size; at += 16) {
    for (const Bytes* bytes : {&std::as_const(mine), &std::as_const(theirs)}) {
      const auto begin = bytes->begin() + static_cast<std::ptrdiff_t>(at);
      need(++blocks[Bytes(begin, begin + 16)] == 1, "parent and child drew the same");
    }
  }
  live.free();
  return 0;
}

// The generator that the configuration asks for, and from another provider than kaccel.
int hash_generator() {
  random_bytes(16);
  EVP_RAND* generator = EVP_RAND_CTX_get0_rand(RAND_get0_public(nullptr));
  need(EVP_RAND_is_a(generator, "HASH-DRBG") == 1, "another generator than the configuration's");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, int (*)()> modes{
      {"descriptors", descriptors},
      {"exec-in-place", exec_in_place},
      {"exec-in-children", exec_in_children},
      {"exit-with-live-contexts", exit_with_live_contexts},
      {"exit-at-once", exit_at_once},
      {"abort-in-mid-stream", abort_in_mid_stream},
      {"clean-up-and-exit", clean_up_and_exit},
      {"exit-beside-a-thread", exit_beside_a_thread},
      {"load-and-unload", load_and_unload},
      {"dlclose-and-load-again", dlclose_and_load_again},
      {"free-after-unloading", free_after_unloading},
      {"drop-privileges-before-the-first-use", drop_privileges_before_the_first_use},
      {"drop-privileges-after-the-first-use", drop_privileges_after_the_first_use},
      {"no-descriptors-at-first", no_descriptors_at_first},
      {"no-descriptors-in-mid-stream", no_descriptors_in_mid_stream},
      {"no-address-space", no_address_space},
      {"close-from-three", close_from_three},
      {"no-standard-descriptors", no_standard_descriptors},
      {"random-numbers", random_numbers},
      {"hash-generator", hash_generator},
  };
  const auto mode = argc == 2 ? modes.find(argv[1]) : modes.end();
  if (mode == modes.end()) {
    for (const auto& [name, function] : modes) std::fprintf(stderr, "%s\n", name.c_str());
    return 2;
  }
  program = argv[0];
  ::alarm(60);
  return mode->second();
}
