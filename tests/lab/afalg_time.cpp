// Times one AF_ALG driver, from a bare socket, beside OpenSSL's software for the same, request
// after request. Built and run by hand:
//
//   g++ -O2 -std=c++20 -o afalg-time tests/lab/afalg_time.cpp -lcrypto
//   lab="tests/lab/run.sh --virtual-time --router-cpu --device qce"
//   $lab -- ./afalg-time cbc-3des-qce DES-EDE3-CBC
//   $lab -- ./afalg-time hmac-sha256-qce HMAC:SHA256
#include <linux/if_alg.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr unsigned char key[64] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                   17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
constexpr unsigned char iv[16] = {};
unsigned char buffer[1 << 16];
unsigned char result[1 << 16];

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

int open_driver(const char* type, const char* driver, socklen_t key_size) {
  sockaddr_alg address{};
  address.salg_family = AF_ALG;
  std::strncpy(reinterpret_cast<char*>(address.salg_type), type, sizeof(address.salg_type) - 1);
  std::strncpy(reinterpret_cast<char*>(address.salg_name), driver, sizeof(address.salg_name) - 1);
  const int tfm = socket(AF_ALG, SOCK_SEQPACKET, 0);
  if (tfm < 0 || bind(tfm, reinterpret_cast<sockaddr*>(&address), sizeof(address)) < 0)
    fail(driver);
  if (setsockopt(tfm, SOL_ALG, ALG_SET_KEY, key, key_size) < 0) fail("ALG_SET_KEY");
  const int op = accept(tfm, nullptr, nullptr);
  if (op < 0) fail("accept");
  return op;
}

void add_control(msghdr& message, cmsghdr*& control, int type, const void* data, std::size_t size) {
  control = control ? CMSG_NXTHDR(&message, control) : CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_ALG;
  control->cmsg_type = type;
  control->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(control), data, size);
}

void encrypt_request(int op, std::size_t size, unsigned iv_size) {
  alignas(cmsghdr) char space[CMSG_SPACE(4) + CMSG_SPACE(4 + 16)] = {};
  iovec part{buffer, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = CMSG_SPACE(4) + (iv_size ? CMSG_SPACE(4 + iv_size) : 0);
  cmsghdr* control = nullptr;
  const unsigned direction = ALG_OP_ENCRYPT;
  add_control(message, control, ALG_SET_OP, &direction, 4);
  if (iv_size) {
    unsigned char value[4 + 16];
    std::memcpy(value, &iv_size, 4);
    std::memcpy(value + 4, iv, iv_size);
    add_control(message, control, ALG_SET_IV, value, 4 + iv_size);
  }
  if (sendmsg(op, &message, 0) < 0) fail("sendmsg");
  if (read(op, result, size) != static_cast<ssize_t>(size)) fail("read");
}

void hash_request(int op, std::size_t size) {
  if (send(op, buffer, size, 0) < 0) fail("send");
  if (read(op, result, EVP_MAX_MD_SIZE) <= 0) fail("read");
}

double microseconds(const std::function<void()>& request) {
  using clock = std::chrono::steady_clock;
  constexpr int rounds = 32;
  for (int i = 0; i < 4; ++i) request();
  const auto start = clock::now();
  for (int i = 0; i < rounds; ++i) request();
  return std::chrono::duration<double, std::micro>(clock::now() - start).count() / rounds;
}

void compare(const std::function<void(std::size_t)>& hardware,
             const std::function<void(std::size_t)>& software) {
  std::printf("%8s %12s %12s   microseconds a request\n", "bytes", "AF_ALG", "OpenSSL");
  for (const std::size_t size : {16, 64, 128, 256, 512, 1024, 1424, 2048, 4096, 8192, 16384}) {
    const double on_hardware = microseconds([&] { hardware(size); });
    const double in_software = microseconds([&] { software(size); });
    std::printf("%8zu %12.2f %12.2f\n", size, on_hardware, in_software);
  }
}

void compare_mac(const char* driver, const char* digest) {
  constexpr socklen_t key_size = 32;
  const int op = open_driver("hash", driver, key_size);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  std::string name = digest;
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", name.data(), 0),
                                   OSSL_PARAM_construct_end()};
  if (!EVP_MAC_init(context, key, key_size, parameters)) fail(digest);
  compare([&](std::size_t size) { hash_request(op, size); },
          [&](std::size_t size) {
            std::size_t length = 0;
            EVP_MAC_init(context, nullptr, 0, nullptr);
            EVP_MAC_update(context, buffer, size);
            EVP_MAC_final(context, result, &length, sizeof(result));
          });
}

void compare_cipher(const char* driver, const char* name) {
  OSSL_PROVIDER_load(nullptr, "default");
  OSSL_PROVIDER_load(nullptr, "legacy");
  const EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
  if (!cipher) fail(name);
  const auto iv_size = static_cast<unsigned>(EVP_CIPHER_get_iv_length(cipher));
  const int op =
      open_driver("skcipher", driver, static_cast<socklen_t>(EVP_CIPHER_get_key_length(cipher)));
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex2(context, cipher, key, iv, nullptr);
  compare([&](std::size_t size) { encrypt_request(op, size, iv_size); },
          [&](std::size_t size) {
            int length = 0;
            EVP_EncryptUpdate(context, result, &length, buffer, static_cast<int>(size));
          });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: afalg-time DRIVER CIPHER | DRIVER HMAC:DIGEST\n");
    return 2;
  }
  if (std::strncmp(argv[2], "HMAC:", 5) == 0)
    compare_mac(argv[1], argv[2] + 5);
  else
    compare_cipher(argv[1], argv[2]);
}
