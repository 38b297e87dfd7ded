#include "tests/support/kaccel_under_test.hpp"

#include <openssl/params.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "kernel-bridge/known_drivers.hpp"
#include "provider/embed.hpp"

namespace kaccel::testing {
namespace {

std::string environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

LibraryContext load_kaccel(const Settings& settings, kernel::Transport* transport) {
  LibraryContextPointer context(OSSL_LIB_CTX_new());
  if (context == nullptr) throw std::runtime_error("no library context");
  ProviderPointer provider(load_embedded(context.get(), settings, transport));
  if (provider == nullptr) throw std::runtime_error("kaccel does not load");
  return {std::move(context), std::move(provider)};
}

}  // namespace

bool on_real_kernel() {
  const std::string transport = environment("KACCEL_TEST_TRANSPORT", "fake");
  if (transport == "afalg") return true;
  if (transport == "fake") return false;
  throw std::runtime_error("KACCEL_TEST_TRANSPORT is " + transport + ", not fake or afalg");
}

std::string driver_for(kernel::Algorithm algorithm) {
  if (!on_real_kernel()) return "fake";
  const std::string drivers = environment("KACCEL_TEST_DRIVERS", "");
  std::string_view rest(drivers);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) {
      throw std::runtime_error("KACCEL_TEST_DRIVERS wants ALGORITHM=DRIVER,... and has " +
                               std::string(pair));
    }
    if (pair.substr(0, equals) == kernel::info(algorithm).kernel_name) {
      return std::string(pair.substr(equals + 1));
    }
  }
  return {};
}

bool has_hardware(std::string_view algorithm) {
  const Algorithm& row = algorithm_table.at(find_algorithm(algorithm));
  const std::string driver = driver_for(row.kernel_algorithm);
  if (driver.empty()) return false;
  const kernel::KnownDriver* known = kernel::find_known_driver(driver);
  return known == nullptr ||
         (permits_key(known->restrictions, driver_key_size(row)) &&
          !(is_two_key_des(row) && known->restrictions.refuses_repeated_des_keys));
}

Settings settings_with_thresholds(Threshold encrypt, Threshold decrypt) {
  Settings settings;
  settings.calibrated = true;
  for (std::size_t i = 0; i < algorithm_table.size(); ++i) {
    settings.algorithms[i].driver = driver_for(algorithm_table[i].kernel_algorithm);
    settings.algorithms[i].encrypt = encrypt;
    settings.algorithms[i].decrypt = decrypt;
  }
  return settings;
}

KaccelUnderTest::KaccelUnderTest(const Settings& settings)
    : fake_(on_real_kernel() ? nullptr : std::make_unique<FakeTransport>()),
      library_(load_kaccel(settings, fake_.get())) {}

std::uint64_t KaccelUnderTest::counter(const char* name) const {
  return provider_counter(library_.provider(), name);
}

std::uint64_t provider_counter(OSSL_PROVIDER* kaccel, const char* name) {
  std::uint64_t value = 0;
  std::array params{OSSL_PARAM_construct_uint64(name, &value), OSSL_PARAM_construct_end()};
  if (OSSL_PROVIDER_get_params(kaccel, params.data()) != 1 ||
      OSSL_PARAM_modified(params.data()) != 1) {
    throw std::runtime_error(std::string("no counter ") + name);
  }
  return value;
}

std::uint64_t number_from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr) return fallback;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0') {
    throw std::runtime_error(std::string(name) + " is not a number: " + text);
  }
  return value;
}

}  // namespace kaccel::testing
