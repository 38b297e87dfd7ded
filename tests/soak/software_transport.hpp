// Drivers without a kernel, for a process that forks while its threads cipher: no lock that a child
// could inherit locked, nothing that grows, and a descriptor for each session, as AF_ALG has two.
#pragma once

#include <openssl/evp.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "kernel-bridge/transport.hpp"
#include "provider/algorithms.hpp"
#include "tests/support/evp.hpp"

namespace kaccel::testing {

// Safe from any thread. Every `one_in`th request fails, after it has spoilt its output.
class SoftwareTransport final : public kernel::Transport {
 public:
  // Throws std::runtime_error when OpenSSL has not what it needs.
  explicit SoftwareTransport(std::uint64_t one_in);

  kernel::Status open(const char* driver, kernel::Algorithm algorithm,
                      std::unique_ptr<kernel::Session>& session) noexcept override;

  static constexpr std::size_t descriptors_a_session = 1;

 private:
  class SoftwareSession;
  struct FreeMacContext {
    void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
  };
  using MacContextPointer = std::unique_ptr<EVP_MAC_CTX, FreeMacContext>;

  CipherPointer cipher_of(const Algorithm& row) const;
  bool is_to_fail() noexcept { return ++requests_ % one_in_ == 0; }

  const LibraryContext library_ = LibraryContext::with_default_provider();
  const std::uint64_t one_in_;
  std::atomic<std::uint64_t> requests_{0};
  // Fetched beforehand, since fetching takes locks of OpenSSL's. By key size in bytes.
  std::map<std::pair<kernel::Algorithm, std::size_t>, CipherPointer> ciphers_;
  std::map<kernel::Algorithm, MacContextPointer> macs_;
};

}  // namespace kaccel::testing
