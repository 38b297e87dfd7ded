#include "provider/provider_context.hpp"

#include <algorithm>
#include <new>

#include "kernel-bridge/af_alg_transport.hpp"
#include "kernel-bridge/known_drivers.hpp"
#include "provider/cipher_dispatch.hpp"
#include "provider/default_companion.hpp"
#include "provider/provider_settings.hpp"
#include "provider/version.hpp"

namespace kaccel {
namespace {

bool has_route(const CipherRoute& route) noexcept {
  return route.driver.name[0] != '\0' && (route.encrypt >= 0 || route.decrypt >= 0) &&
         permits_key(route.driver.restrictions, route.key_size) && complete(route.software);
}

}  // namespace

std::unique_ptr<ProviderContext> ProviderContext::create(const OSSL_CORE_HANDLE* handle,
                                                         const OSSL_DISPATCH* core_functions,
                                                         const Embedding* embedding) {
  const ErrorQueue errors(handle, core_functions);
  std::unique_ptr<ProviderContext> context(new ProviderContext);

  Settings settings;
  std::string problem;
  if (embedding != nullptr) {
    settings = embedding->settings;
  } else if (auto error = load_settings(handle, core_functions, settings)) {
    problem = std::move(error->message);
    KACCEL_RAISE(errors, Reason::bad_configuration, problem.c_str());
  }

  context->software_ = Software::load();
  if (context->software_ == nullptr) {
    KACCEL_RAISE(errors, Reason::software_unavailable,
                 "kaccel needs OpenSSL's default provider in libcrypto");
    return nullptr;
  }
  kernel::Transport* transport = embedding != nullptr ? embedding->transport : nullptr;
  if (transport == nullptr) {
    context->own_transport_ = kernel::make_af_alg_transport();
    transport = context->own_transport_.get();
  }
  if (transport == nullptr) throw std::bad_alloc();
  context->pool_ = std::make_unique<kernel::SessionPool>(*transport, settings.max_sessions);

  context->set_up_routes(settings);
  context->set_up_tables();
  context->describe_state(settings, problem);

  if (settings.load_default && embedding == nullptr &&
      !bring_default_provider(handle, core_functions)) {
    return nullptr;
  }
  return context;
}

void ProviderContext::set_up_routes(const Settings& settings) {
  for (std::size_t row = 0; row < cipher_algorithms.size(); ++row) {
    const CipherAlgorithm& algorithm = cipher_algorithms[row];
    const AlgorithmSettings& wanted = settings.ciphers[row];
    CipherRoute& route = routes_[row];
    route.software_provider_context = software_->provider_context();
    route.key_size = algorithm.key_size;
    route.pool = pool_.get();
    route.counters = &usage_;
    route.driver.algorithm = algorithm.kernel_algorithm;
    std::copy_n(wanted.driver.data(), std::min(wanted.driver.size(), route.driver.name.size() - 1),
                route.driver.name.data());
    route.driver.restrictions = wanted.restrictions;
    if (const auto* known = kernel::find_known_driver(wanted.driver)) {
      route.driver.restrictions = combine(known->restrictions, wanted.restrictions);
    }
    route.encrypt = settings.force_threshold.value_or(wanted.encrypt);
    route.decrypt = settings.force_threshold.value_or(wanted.decrypt);
  }
}

void ProviderContext::set_up_tables() {
  for (std::size_t row = 0; row < cipher_algorithms.size(); ++row) {
    const OSSL_ALGORITHM* software = software_->find_cipher(cipher_algorithms[row].name);
    if (software == nullptr) continue;  // an OpenSSL built without it: kaccel has none either
    routes_[row].software = resolve(software->implementation);
    dispatch_[row] = has_route(routes_[row]) ? routed_table(row, software->implementation)
                                             : software_table(row, software->implementation);
    // The default provider's names bring its aliases and OIDs; EVP finds an algorithm by any.
    ciphers_.push_back({software->algorithm_names, "provider=kaccel", dispatch_[row].data(),
                        software->algorithm_description});
  }
  ciphers_.push_back({nullptr, nullptr, nullptr, nullptr});
}

void ProviderContext::describe_state(const Settings& settings, const std::string& problem) {
  build_info_ = std::string("kaccel ") + version;
  const auto routes = std::count_if(routes_.begin(), routes_.end(), has_route);
  if (!problem.empty()) {
    build_info_ += ", software only, bad configuration: " + problem;
  } else if (routes == 0) {
    build_info_ += ", software only: no hardware driver is configured or known here";
  } else {
    build_info_ += ", " + std::to_string(routes) + (routes == 1 ? " algorithm" : " algorithms") +
                   " with a driver configured, thresholds " +
                   (settings.calibrated ? "calibrated" : "as published");
  }
  if (!settings.missing_section.empty()) {
    build_info_ += "; there is no section " + settings.missing_section + ": run kaccel-calibrate";
  }
}

}  // namespace kaccel
