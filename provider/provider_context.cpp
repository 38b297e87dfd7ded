#include "provider/provider_context.hpp"

#include <algorithm>
#include <new>

#include "kernel-bridge/af_alg_transport.hpp"
#include "kernel-bridge/known_drivers.hpp"
#include "provider/cipher_dispatch.hpp"
#include "provider/default_companion.hpp"
#include "provider/mac_dispatch.hpp"
#include "provider/provider_settings.hpp"
#include "provider/random_generator.hpp"
#include "provider/version.hpp"

namespace kaccel {
namespace {

bool is_single_des(const Algorithm& algorithm) noexcept {
  return algorithm.kernel_algorithm == kernel::Algorithm::ecb_des ||
         algorithm.kernel_algorithm == kernel::Algorithm::cbc_des;
}

bool is_wanted(const CipherRoute& route) noexcept {
  return route.driver.name[0] != '\0' && (route.encrypt >= 0 || route.decrypt >= 0) &&
         permits_key(route.driver.restrictions, route.key_size) &&
         // K1 K2 K1 repeats a key by its nature.
         !(route.two_key_des && route.driver.restrictions.refuses_repeated_des_keys);
}

bool has_route(const Algorithm& algorithm, const CipherRoute& route) noexcept {
  return is_wanted(route) && complete(route.software) &&
         (algorithm.kind != Kind::gcm || route.counter_mode != nullptr);
}

void bind_driver(const AlgorithmSettings& wanted, kernel::Algorithm algorithm,
                 kernel::BoundDriver& driver) {
  driver.algorithm = algorithm;
  std::copy_n(wanted.driver.data(), std::min(wanted.driver.size(), driver.name.size() - 1),
              driver.name.data());
  driver.restrictions = wanted.restrictions;
  if (const auto* known = kernel::find_known_driver(wanted.driver)) {
    driver.restrictions = combine(known->restrictions, wanted.restrictions);
  }
}

// A program that brings its own transport knows what it does.
kernel::UnderSeccomp under_seccomp(const Settings& settings, bool own_transport) noexcept {
  if (!own_transport) return kernel::UnderSeccomp::ignore;
  return settings.under_seccomp ? kernel::UnderSeccomp::as_made : kernel::UnderSeccomp::avoid;
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
  if (!settings.statistics.empty()) context->share_counters(settings.statistics);
  context->pool_ = std::make_unique<kernel::SessionPool>(
      *transport, settings.max_sessions,
      under_seccomp(settings, context->own_transport_ != nullptr), &context->counters_->sessions);

  context->set_up_ciphers(settings);
  context->set_up_cipher_tables(embedding != nullptr && embedding->only_routed);
  context->set_up_macs(settings);
  context->describe_state(settings, problem);
  if (settings.random && context->routes_a_random_generators_cipher()) {
    keep_random_generator_in_software(handle, core_functions, *settings.random);
  }

  if (settings.load_default && embedding == nullptr &&
      !bring_default_provider(handle, core_functions)) {
    return nullptr;
  }
  return context;
}

void ProviderContext::share_counters(const std::string& directory) {
  statistics_ = StatisticsFile::open(directory, statistics_problem_);
  if (statistics_.counters() != nullptr) counters_ = statistics_.counters();
}

void ProviderContext::set_up_ciphers(const Settings& settings) {
  for (std::size_t row = 0; row < cipher_count; ++row) {
    const Algorithm& algorithm = algorithm_table[row];
    const AlgorithmSettings& wanted = settings.algorithms[row];
    CipherRoute& route = routes_[row];
    bind_driver(wanted, algorithm.kernel_algorithm, route.driver);
    route.key_size = driver_key_size(algorithm);
    route.two_key_des = is_two_key_des(algorithm);
    route.ciphertext_stealing = wanted.ciphertext_stealing;
    route.encrypt = settings.force_threshold.value_or(wanted.encrypt);
    route.decrypt = settings.force_threshold.value_or(wanted.decrypt);
    route.pool = pool_.get();
    route.counters = &counters_->algorithms[row];
    // Loading legacy.so is not for every process to pay.
    if (is_single_des(algorithm) && !(is_wanted(route) && software_->load_legacy())) continue;
    find_software(algorithm.name, route, software_ciphers_[row]);
    if (algorithm.kind == Kind::gcm && is_wanted(route)) set_up_gcm(row);
  }
}

void ProviderContext::find_software(const char* name, CipherRoute& route,
                                    SoftwareAlgorithm& software) {
  software = software_->find_cipher(name);
  if (software.entry == nullptr) return;
  route.software = resolve(software.entry->implementation);
  route.software_provider_context = software.provider_context;
}

void ProviderContext::set_up_gcm(std::size_t row) {
  const auto is_counter_mode = [&](const Algorithm& algorithm) {
    return algorithm.kind == Kind::blocks &&
           algorithm.kernel_algorithm == kernel::Algorithm::ctr_aes &&
           algorithm.key_size == algorithm_table[row].key_size;
  };
  const auto* algorithm =
      std::find_if(algorithm_table.begin(), algorithm_table.end(), is_counter_mode);
  CipherRoute& route = routes_[row];
  CipherRoute& text = counter_modes_[row];
  SoftwareAlgorithm software;
  find_software(algorithm->name, text, software);
  if (!complete(text.software) || text.software.dupctx == nullptr) return;
  text.driver.name = route.driver.name;
  text.driver.algorithm = route.driver.algorithm;
  text.driver.restrictions = route.driver.restrictions;
  text.key_size = route.key_size;
  text.encrypt = route.encrypt;
  text.decrypt = route.decrypt;
  text.pool = route.pool;
  text.counters = route.counters;
  route.counter_mode = &text;
}

void ProviderContext::set_up_cipher_tables(bool only_routed) {
  ciphers_.reserve(cipher_count + 1);
  for (std::size_t row = 0; row < cipher_count; ++row) {
    const OSSL_ALGORITHM* software = software_ciphers_[row].entry;
    if (software == nullptr) continue;  // an OpenSSL built without it: kaccel has none either
    const bool routed = has_route(algorithm_table[row], routes_[row]);
    if (only_routed && !routed) continue;
    dispatch_[row] = routed ? routed_table(row, software->implementation)
                            : software_table(row, software->implementation);
    // OpenSSL's names bring its aliases and OIDs; EVP finds an algorithm by any.
    ciphers_.push_back({software->algorithm_names, "provider=kaccel", dispatch_[row].data(),
                        software->algorithm_description});
  }
  ciphers_.push_back({nullptr, nullptr, nullptr, nullptr});
}

bool ProviderContext::routes_a_random_generators_cipher() const noexcept {
  for (std::size_t row = 0; row < cipher_count; ++row) {
    const kernel::Algorithm algorithm = algorithm_table[row].kernel_algorithm;
    const bool used =
        algorithm == kernel::Algorithm::ctr_aes || algorithm == kernel::Algorithm::ecb_aes;
    if (used && has_route(algorithm_table[row], routes_[row])) return true;
  }
  return false;
}

void ProviderContext::set_up_macs(const Settings& settings) {
  const SoftwareAlgorithm software = software_->find_mac("HMAC");
  if (software.entry != nullptr) {
    mac_route_.software = resolve_mac(software.entry->implementation);
    mac_route_.software_provider_context = software.provider_context;
    mac_route_.library_context = software_->library_context();
    mac_route_.pool = pool_.get();
    for (std::size_t i = 0; i < mac_count; ++i) {
      const Algorithm& algorithm = algorithm_table[cipher_count + i];
      const AlgorithmSettings& wanted = settings.algorithms[cipher_count + i];
      MacRoute::Digest& digest = mac_route_.digests[i];
      bind_driver(wanted, algorithm.kernel_algorithm, digest.driver);
      digest.counters = &counters_->algorithms[cipher_count + i];
      digest.threshold = settings.force_threshold.value_or(wanted.encrypt);
      digest.name = digest_name(algorithm).data();  // the row's name from there to its end
      digest.names = software_->find_digest_names(digest.name);
    }
    const auto& digests = mac_route_.digests;
    const bool routed =
        std::any_of(digests.begin(), digests.end(), has_mac_route) && complete(mac_route_.software);
    mac_dispatch_ = routed ? routed_mac_table(software.entry->implementation)
                           : software_mac_table(software.entry->implementation);
    macs_.push_back({software.entry->algorithm_names, "provider=kaccel", mac_dispatch_.data(),
                     software.entry->algorithm_description});
  }
  macs_.push_back({nullptr, nullptr, nullptr, nullptr});
}

void ProviderContext::describe_state(const Settings& settings, const std::string& problem) {
  build_info_ = std::string("kaccel ") + version;
  const auto& digests = mac_route_.digests;
  auto routes = std::count_if(digests.begin(), digests.end(), has_mac_route);
  for (std::size_t row = 0; row < cipher_count; ++row) {
    routes += has_route(algorithm_table[row], routes_[row]) ? 1 : 0;
  }
  if (!problem.empty()) {
    build_info_ += ", software only, bad configuration: " + problem;
  } else if (routes == 0) {
    const bool any_driver =
        std::any_of(settings.algorithms.begin(), settings.algorithms.end(),
                    [](const AlgorithmSettings& each) { return !each.driver.empty(); });
    build_info_ += !any_driver ? ", software only: no hardware driver is configured or known here"
                   : settings.force_threshold == never_hardware
                       ? ", software only: force_threshold = -1"
                       : ", software only: every threshold is -1, or no configured driver serves";
  } else {
    build_info_ += ", " + std::to_string(routes) + (routes == 1 ? " algorithm" : " algorithms") +
                   " with a driver configured, thresholds " +
                   (settings.calibrated ? "calibrated" : "as published");
  }
  if (!statistics_problem_.empty()) build_info_ += "; no statistics: " + statistics_problem_;
  if (!settings.missing_section.empty()) {
    build_info_ += "; there is no section " + settings.missing_section + ": run kaccel-calibrate";
  }
}

}  // namespace kaccel
