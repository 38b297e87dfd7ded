// Everything one loaded kaccel owns: what OpenSSL calls the provider context.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/provider.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernel-bridge/session_pool.hpp"
#include "kernel-bridge/transport.hpp"
#include "provider/algorithms.hpp"
#include "provider/cipher_route.hpp"
#include "provider/counters.hpp"
#include "provider/errors.hpp"
#include "provider/mac_route.hpp"
#include "provider/settings.hpp"
#include "provider/software.hpp"
#include "provider/statistics_file.hpp"

namespace kaccel {

// Where the settings come from when kaccel is embedded in a program (embed.hpp).
struct Embedding {
  Settings settings;
  kernel::Transport* transport = nullptr;  // nullptr: AF_ALG
  // Ciphers without a driver are not offered. OpenSSL takes milliseconds to register them all.
  bool only_routed = false;
};

class ProviderContext {
 public:
  // nullptr with errors raised when kaccel cannot work at all. A bad configuration is no such case:
  // its error is raised and everything stays in software. May throw std::bad_alloc.
  static std::unique_ptr<ProviderContext> create(const OSSL_CORE_HANDLE* handle,
                                                 const OSSL_DISPATCH* core_functions,
                                                 const Embedding* embedding);

  ProviderContext(const ProviderContext&) = delete;
  ProviderContext& operator=(const ProviderContext&) = delete;
  ~ProviderContext() = default;

  const OSSL_ALGORITHM* ciphers() const noexcept { return ciphers_.data(); }
  const OSSL_ALGORITHM* macs() const noexcept { return macs_.data(); }
  CipherRoute& route(std::size_t row) noexcept { return routes_[row]; }
  MacRoute& mac_route() noexcept { return mac_route_; }
  const Software& software() const noexcept { return *software_; }
  const Counters& counters() const noexcept { return *counters_; }
  kernel::SessionPool::Counters sessions() noexcept { return pool_->counters(); }
  // For `openssl list -providers -verbose`: version, and in one phrase what kaccel is doing.
  const char* build_info() const noexcept { return build_info_.c_str(); }

 private:
  ProviderContext() = default;

  void share_counters(const std::string& directory);
  void set_up_ciphers(const Settings& settings);
  void find_software(const char* name, CipherRoute& route, SoftwareAlgorithm& software);
  void set_up_gcm(std::size_t row);
  void set_up_cipher_tables(bool only_routed);
  void set_up_macs(const Settings& settings);
  bool routes_a_random_generators_cipher() const noexcept;
  void describe_state(const Settings& settings, const std::string& problem);

  // In the order in which they need each other; destroyed in reverse.
  std::unique_ptr<Software> software_;
  std::unique_ptr<kernel::Transport> own_transport_;
  StatisticsFile statistics_;
  Counters own_counters_;
  Counters* counters_ = &own_counters_;
  std::unique_ptr<kernel::SessionPool> pool_;
  std::array<CipherRoute, cipher_count> routes_;
  std::array<CipherRoute, cipher_count> counter_modes_;  // of the GCM rows
  std::array<SoftwareAlgorithm, cipher_count> software_ciphers_;
  std::array<std::vector<OSSL_DISPATCH>, cipher_count> dispatch_;
  std::vector<OSSL_ALGORITHM> ciphers_;
  MacRoute mac_route_;
  std::vector<OSSL_DISPATCH> mac_dispatch_;
  std::vector<OSSL_ALGORITHM> macs_;
  std::string statistics_problem_;
  std::string build_info_;
};

}  // namespace kaccel
