#include "tests/tls/tls_library.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstdlib>
#include <stdexcept>

#include "provider/config_file.hpp"
#include "provider/embed.hpp"

namespace kaccel::testing {

TlsLibrary::TlsLibrary() : default_(LibraryContext::with_default_provider()) {}

TlsLibrary::TlsLibrary(const Settings& settings)
    : fake_(on_real_kernel() ? nullptr : std::make_unique<FakeTransport>()),
      default_(LibraryContext::with_default_provider()),
      kaccel_(load_embedded(default_.get(), settings, fake_.get())) {
  // As openssl.cnf.example has it: random numbers stay OpenSSL's own affair.
  if (kaccel_ == nullptr ||
      RAND_set_DRBG_type(default_.get(), nullptr, "provider=default", nullptr, nullptr) != 1 ||
      EVP_set_default_properties(default_.get(), "?provider=kaccel") != 1) {
    throw std::runtime_error("kaccel does not load");
  }
}

std::uint64_t TlsLibrary::counter(const char* name) const {
  return provider_counter(kaccel_.get(), name);
}

Settings calibrated_settings() {
  const char* path = std::getenv("KACCEL_TEST_CONFIGURATION");
  if (path == nullptr) return settings_with_thresholds(512, 512);
  std::string problem;
  const auto section = read_config_section(path, problem);
  if (!section) throw std::runtime_error(problem);
  const SettingsLookup lookup = [&section](const char* key) -> const char* {
    const auto found = section->values.find(key);
    return found == section->values.end() ? nullptr : found->second.c_str();
  };
  Settings settings;
  if (const auto error = parse_settings(lookup, settings)) throw std::runtime_error(error->message);
  return settings;
}

}  // namespace kaccel::testing
