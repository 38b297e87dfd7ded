#include "tests/fuzz/subjects.hpp"

#include <openssl/err.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "tests/fuzz/fixed_random.hpp"
#include "tests/fuzz/transcript.hpp"

namespace kaccel::fuzzing {

using testing::KaccelUnderTest;
using testing::LibraryContext;
using testing::ProviderPointer;

namespace {

// FakeTransport remembers every request.
constexpr std::uint64_t most_requests = 200'000;

template <class Array>
void fetch_ciphers(OSSL_LIB_CTX* library, const char* properties, Array& ciphers) {
  for (std::size_t row = 0; row < ciphers.size(); ++row) {
    ciphers[row].reset(EVP_CIPHER_fetch(library, algorithm_table[row].name, properties));
  }
  ERR_clear_error();
}

}  // namespace

Subjects::Subjects()
    : reference_(LibraryContext::with_default_provider()),
      legacy_(OSSL_PROVIDER_load(reference_.get(), "legacy")),
      routed_(load_side(always_hardware)),
      software_(load_side(never_hardware)) {
  install_fixed_random();
  fetch_ciphers(reference_.get(), nullptr, reference_ciphers_);
  reference_hmac_.reset(EVP_MAC_fetch(reference_.get(), "HMAC", nullptr));
  if (reference_hmac_ == nullptr) throw std::runtime_error("no HMAC in the default provider");
}

std::unique_ptr<Subjects::Side> Subjects::load_side(Threshold threshold) {
  auto loaded = std::make_unique<Side>();
  Side& side = *loaded;
  side.kaccel =
      std::make_unique<KaccelUnderTest>(testing::settings_with_thresholds(threshold, threshold));
  OSSL_LIB_CTX* library = side.kaccel->library().get();
  side.default_provider.reset(OSSL_PROVIDER_load(library, "default"));
  if (side.default_provider == nullptr) throw std::runtime_error("no default provider");
  // For what fetches a MAC by itself, such as EVP_DigestSign.
  if (EVP_set_default_properties(library, "?provider=kaccel") != 1) {
    throw std::runtime_error("no default properties");
  }
  fetch_ciphers(library, "provider=kaccel", side.ciphers);
  side.hmac.reset(EVP_MAC_fetch(library, "HMAC", "provider=kaccel"));
  if (side.hmac == nullptr) throw std::runtime_error("no HMAC in kaccel");
  return loaded;
}

std::optional<CipherSubject> Subjects::cipher(std::size_t row) const {
  const CipherSubject subject{reference_ciphers_[row].get(), side().ciphers[row].get()};
  // Without a route kaccel does not load the legacy provider.
  if (subject.kaccel == nullptr && !has_routes_) return std::nullopt;
  if ((subject.reference == nullptr) != (subject.kaccel == nullptr)) {
    throw Difference(std::string(algorithm_table[row].name) + " is there on one side only");
  }
  if (subject.reference == nullptr) return std::nullopt;
  return subject;
}

// Configuring -------------------------------------------------------------------------------------

ProviderContext& Subjects::provider() noexcept {
  return *static_cast<ProviderContext*>(
      OSSL_PROVIDER_get0_provider_ctx(side().kaccel->library().provider()));
}

void Subjects::configure(const Configuration& configuration) {
  has_routes_ = configuration.encrypt >= 0 || configuration.decrypt >= 0;
  pool_.reset();
  if (!has_routes_) return;
  renew();
  configure_driver(configuration);
  pool_.emplace(*routed_->kaccel->fake(), configuration.max_sessions);
  for (std::size_t row = 0; row < cipher_count; ++row) {
    CipherRoute& route = provider().route(row);
    configure_cipher(route, configuration);
    if (route.counter_mode != nullptr) configure_cipher(*route.counter_mode, configuration);
  }
  configure_macs(configuration);
}

void Subjects::configure_driver(const Configuration& configuration) {
  testing::FakeTransport& driver = *routed_->kaccel->fake();
  driver.set_max_request(configuration.max_request);
  driver.set_restrictions(configuration.driver_restrictions);
  driver.fail_no_more();
  if (configuration.fails_one_in != 0) {
    driver.fail_randomly(configuration.fault_seed, configuration.fails_one_in);
  }
}

void Subjects::configure_cipher(CipherRoute& route, const Configuration& configuration) {
  route.encrypt = configuration.encrypt;
  route.decrypt = configuration.decrypt;
  route.ciphertext_stealing = configuration.ciphertext_stealing;
  route.driver.restrictions = configuration.restrictions;
  std::construct_at(&route.driver.health);
  route.pool = &*pool_;
}

// Digests next to each other get the two thresholds in turn, so that a context can change between
// routes.
void Subjects::configure_macs(const Configuration& configuration) {
  MacRoute& route = provider().mac_route();
  for (std::size_t i = 0; i < route.digests.size(); ++i) {
    MacRoute::Digest& digest = route.digests[i];
    digest.threshold = configuration.threshold(i % 2 == 0);
    digest.driver.restrictions = configuration.restrictions;
    std::construct_at(&digest.driver.health);
  }
  route.pool = &*pool_;
}

void Subjects::renew() {
  if (routed_->kaccel->fake()->calls(testing::FakeTransport::Step::crypt) < most_requests) return;
  hardware_calls_ += routed_->kaccel->counter("hardware-calls");
  fallbacks_ += routed_->kaccel->counter("fallbacks");
  routed_ = load_side(always_hardware);
}

// Afterwards --------------------------------------------------------------------------------------

void Subjects::check_driver() {
  pool_.reset();
  const testing::FakeTransport& driver = *routed_->kaccel->fake();
  const auto violations = driver.violations();
  if (!violations.empty()) throw Difference("the driver was asked wrongly: " + violations.front());
  if (driver.open_sessions() != 0) throw Difference("a session was left open");
}

std::string Subjects::summary() const {
  const auto total = [this](const char* name, std::uint64_t before) {
    return std::to_string(before + routed_->kaccel->counter(name));
  };
  return total("hardware-calls", hardware_calls_) + " calls by hardware, " +
         total("fallbacks", fallbacks_) + " after its failure by software";
}

}  // namespace kaccel::fuzzing
