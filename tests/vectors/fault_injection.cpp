#include "fault_injection.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "provider/algorithms.hpp"
#include "provider/embed.hpp"
#include "tests/support/kaccel_under_test.hpp"

namespace kaccel::vectors {

using kernel::Failure;
using Step = TransportFault::Step;

namespace {

// So that a message of few blocks is several requests.
constexpr std::size_t small_request = 32;

Settings settings_for(const char* name, Threshold threshold) {
  Settings settings;
  settings.calibrated = true;
  AlgorithmSettings& chosen = settings.algorithms.at(find_algorithm(name));
  chosen.driver = "fake";
  chosen.encrypt = chosen.decrypt = threshold;
  chosen.ciphertext_stealing = true;  // of XTS alone
  return settings;
}

bool is_unit(const char* name) {
  return algorithm_table.at(find_algorithm(name)).kind == Kind::data_units;
}

bool takes_driver_out(Failure failure) {
  return failure == Failure::no_af_alg || failure == Failure::denied ||
         failure == Failure::no_driver;
}

std::string name_of_only(const Settings& settings) {
  for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
    if (!settings.algorithms.at(row).driver.empty()) return algorithm_table[row].name;
  }
  throw std::logic_error("no algorithm");
}

bool chosen(std::string_view which) {
  const char* value = std::getenv("KACCEL_FAULTS");
  return value != nullptr && value == which;
}

}  // namespace

std::size_t records_apart(std::size_t usual) {
  if (chosen("all")) return 1;
  return chosen("few") ? 5 * usual : usual;
}

struct FaultInjection::Subject {
  explicit Subject(const Settings& settings)
      : transport(std::make_unique<FaultyTransport>()), library(load(settings, *transport)) {
    // A data unit cannot be split.
    if (!is_unit(name_of_only(settings).c_str()))
      transport->driver().set_max_request(small_request);
  }

  static kaccel::testing::LibraryContext load(const Settings& settings,
                                              FaultyTransport& transport) {
    kaccel::testing::LibraryContextPointer context(OSSL_LIB_CTX_new());
    kaccel::testing::ProviderPointer provider(
        load_embedded(context.get(), settings, &transport, Offered::only_routed));
    if (provider == nullptr) throw std::runtime_error("kaccel does not load");
    return {std::move(context), std::move(provider)};
  }
  std::uint64_t counter(const char* name) const {
    return kaccel::testing::provider_counter(library.provider(), name);
  }
  std::uint64_t requests() const {
    return transport->driver().calls(kaccel::testing::FakeTransport::Step::crypt);
  }

  std::unique_ptr<FaultyTransport> transport;  // outlives the provider
  kaccel::testing::LibraryContext library;
};

FaultInjection::FaultInjection(const char* name, Threshold threshold)
    : settings_(settings_for(name, threshold)),
      is_mac_(is_mac(algorithm_table.at(find_algorithm(name)))),
      well_(std::make_unique<Subject>(settings_)),
      // Files with few passages do not all begin with the same faults.
      turn_(std::hash<std::string>{}(name) % all_transport_faults().size()) {}

FaultInjection::~FaultInjection() = default;

void FaultInjection::run(const Passage& passage) {
  ++passages_;
  const std::uint64_t requests_before = well_->requests();
  const std::uint64_t calls_before = well_->counter("hardware-calls");
  passage(well_->library);
  const std::uint64_t requests = well_->requests() - requests_before;
  const std::uint64_t calls = well_->counter("hardware-calls") - calls_before;
  if (requests == 0 || ::testing::Test::HasFailure()) return;
  const std::size_t faults = chosen("all") ? all_transport_faults().size() : 1;
  for (std::size_t i = 0; i < faults; ++i) run_with_fault(passage, requests, calls);
}

void FaultInjection::run_with_fault(const Passage& passage, std::uint64_t requests,
                                    std::uint64_t calls) {
  const auto faults = all_transport_faults();
  const TransportFault& fault = faults[turn_ % faults.size()];
  // The whole range of requests comes by, the last ones too.
  const std::uint64_t nth = fault.step == Step::request ? 1 + turn_ * 7 % requests : 1;
  ++turn_;
  ++due_;

  Subject ill(settings_);
  ill.transport->fail(fault, nth);
  SCOPED_TRACE(describe(fault) + ", the " + std::to_string(nth) + ". of " +
               std::to_string(requests) + " requests");
  passage(ill.library);
  EXPECT_TRUE(ill.transport->injected());
  if (ill.transport->injected()) ++injected_.at(static_cast<std::size_t>(fault.step));
  EXPECT_EQ(ill.transport->violations(), std::vector<std::string>{});

  const std::uint64_t fallbacks = ill.counter("fallbacks");
  const std::uint64_t hardware_calls = ill.counter("hardware-calls");
  if (fault.failure == Failure::none) {
    EXPECT_EQ(fallbacks, 0U);
    EXPECT_EQ(hardware_calls, calls);
  } else if (takes_driver_out(fault.failure) || (fault.failure == Failure::bad_key && !is_mac_)) {
    // Nothing is asked of the driver any more, or of this context.
    EXPECT_GE(fallbacks, 1U);
    EXPECT_LT(hardware_calls, calls);
  } else {
    // A shortage costs the call after it as well.
    EXPECT_GE(fallbacks, 1U);
    EXPECT_LE(fallbacks, 2U);
    EXPECT_EQ(hardware_calls + fallbacks, calls);
  }
}

std::size_t FaultInjection::injected() const {
  return std::accumulate(injected_.begin(), injected_.end(), std::size_t{0});
}

void FaultInjection::finish(const char* what) const {
  EXPECT_EQ(injected(), due_);
  if (due_ >= all_transport_faults().size()) {
    for (const std::size_t at_step : injected_) EXPECT_GE(at_step, 9U);
  }
  std::printf("%s, %s: faults at open %zu, at set_key %zu, at a request %zu\n", what,
              name_of_only(settings_).c_str(), injected_[0], injected_[1], injected_[2]);
}

}  // namespace kaccel::vectors
