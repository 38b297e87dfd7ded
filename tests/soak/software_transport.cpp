#include "tests/soak/software_transport.hpp"

#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace kaccel::testing {

using kernel::Failure;
using kernel::Status;

class SoftwareTransport::SoftwareSession final : public kernel::Session {
 public:
  SoftwareSession(SoftwareTransport& transport, kernel::Algorithm algorithm, int descriptor)
      : transport_(transport),
        algorithm_(algorithm),
        descriptor_(descriptor),
        cipher_(EVP_CIPHER_CTX_new()) {}
  ~SoftwareSession() override { ::close(descriptor_); }

  Status set_key(std::span<const std::uint8_t> key) noexcept override {
    if (const auto mac = transport_.macs_.find(algorithm_); mac != transport_.macs_.end()) {
      mac_.reset(EVP_MAC_CTX_dup(mac->second.get()));
      const bool ok = EVP_MAC_init(mac_.get(), key.data(), key.size(), nullptr) == 1;
      return ok ? kernel::success : Status{Failure::bad_key, EINVAL};
    }
    const auto cipher = transport_.ciphers_.find({algorithm_, key.size()});
    const bool ok =
        cipher != transport_.ciphers_.end() &&
        EVP_CipherInit_ex2(cipher_.get(), cipher->second.get(), nullptr, nullptr, 1, nullptr) == 1;
    if (!ok) return {Failure::bad_key, EINVAL};
    for (std::size_t i = 0; i < key_.size(); ++i) key_[i] = key[i % key.size()];
    return kernel::success;
  }

  Status crypt(const kernel::CipherRequest& request) noexcept override {
    const auto size = static_cast<int>(request.input.size());
    if (transport_.is_to_fail()) {
      std::memset(request.output, 0xa5, request.input.size());
      return {Failure::driver_error, EIO};
    }
    const int encrypt = request.direction == kernel::Direction::encrypt ? 1 : 0;
    int written = 0;
    const bool ok = EVP_CipherInit_ex2(cipher_.get(), nullptr, key_.data(),
                                       request.iv.empty() ? nullptr : request.iv.data(), encrypt,
                                       nullptr) == 1 &&
                    EVP_CIPHER_CTX_set_padding(cipher_.get(), 0) == 1 &&
                    EVP_CipherUpdate(cipher_.get(), request.output, &written, request.input.data(),
                                     size) == 1 &&
                    written == size;
    return ok ? kernel::success : Status{Failure::driver_error, EIO};
  }

  Status mac(std::span<const std::uint8_t> message,
             std::span<std::uint8_t> result) noexcept override {
    if (transport_.is_to_fail()) {
      std::memset(result.data(), 0xa5, result.size());
      return {Failure::driver_error, EIO};
    }
    std::size_t written = 0;
    const bool ok = EVP_MAC_init(mac_.get(), nullptr, 0, nullptr) == 1 &&
                    EVP_MAC_update(mac_.get(), message.data(), message.size()) == 1 &&
                    EVP_MAC_final(mac_.get(), result.data(), &written, result.size()) == 1 &&
                    written == result.size();
    return ok ? kernel::success : Status{Failure::driver_error, EIO};
  }

  std::size_t max_request() const noexcept override { return 65536; }

 private:
  SoftwareTransport& transport_;
  const kernel::Algorithm algorithm_;
  const int descriptor_;
  CipherContextPointer cipher_;
  MacContextPointer mac_;
  std::array<std::uint8_t, kernel::max_key_size> key_{};
};

// Single DES is triple DES under one key three times, so that no legacy provider is needed.
CipherPointer SoftwareTransport::cipher_of(const Algorithm& row) const {
  std::string name(row.name);
  if (row.key_size == 8) name.replace(0, 3, "DES-EDE3");
  CipherPointer cipher = fetch_cipher(library_, name.c_str());
  if (cipher == nullptr) throw std::runtime_error("no " + name);
  return cipher;
}

SoftwareTransport::SoftwareTransport(std::uint64_t one_in) : one_in_(one_in) {
  EVP_MAC* hmac = EVP_MAC_fetch(library_.get(), "HMAC", nullptr);
  for (const Algorithm& row : algorithm_table) {
    if (is_mac(row)) {
      std::string digest(digest_name(row));
      const std::array params{
          OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
          OSSL_PARAM_construct_end()};
      MacContextPointer context(EVP_MAC_CTX_new(hmac));
      if (EVP_MAC_CTX_set_params(context.get(), params.data()) != 1) {
        throw std::runtime_error("no HMAC with " + digest);
      }
      macs_[row.kernel_algorithm] = std::move(context);
    } else if (row.kind != Kind::gcm && !is_two_key_des(row)) {
      ciphers_[{row.kernel_algorithm, row.key_size}] = cipher_of(row);
    }
  }
  EVP_MAC_free(hmac);
}

Status SoftwareTransport::open(const char*, kernel::Algorithm algorithm,
                               std::unique_ptr<kernel::Session>& session) noexcept {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {Failure::no_descriptors, errno};
  session = std::make_unique<SoftwareSession>(*this, algorithm, descriptor);
  return kernel::success;
}

}  // namespace kaccel::testing
