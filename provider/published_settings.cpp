#include <algorithm>

#include "kernel-bridge/known_drivers.hpp"
#include "provider/settings.hpp"

namespace kaccel {
namespace {

// "cbc-aes-qce" of a line "driver       : cbc-aes-qce", "" of any other. Every process of an
// uncalibrated machine comes here, so the listing is looked through and not made into entries.
std::string_view driver_of(std::string_view line) noexcept {
  constexpr std::string_view field = "driver";
  constexpr std::string_view separator = ": ";
  if (!line.starts_with(field)) return {};
  const std::size_t colon = line.find(separator, field.size());
  return colon == line.npos ? std::string_view{} : line.substr(colon + separator.size());
}

void use_published_threshold(const kernel::KnownDriver& known, Settings& settings) {
  for (std::size_t row = 0; row < algorithm_table.size(); ++row) {
    // Of GCM by a driver's CTR nobody has published a threshold.
    const Algorithm& algorithm = algorithm_table[row];
    if (algorithm.kernel_algorithm != known.algorithm || algorithm.kind == Kind::gcm) continue;
    settings.algorithms[row].driver = known.driver;
    settings.algorithms[row].encrypt = known.published_threshold;
    settings.algorithms[row].decrypt = known.published_threshold;
  }
}

}  // namespace

void published_settings(std::string_view proc_crypto, Settings& settings) {
  while (!proc_crypto.empty()) {
    const std::size_t end = std::min(proc_crypto.find('\n'), proc_crypto.size());
    const std::string_view driver = driver_of(proc_crypto.substr(0, end));
    const kernel::KnownDriver* known = driver.empty() ? nullptr : kernel::find_known_driver(driver);
    if (known != nullptr && known->published_threshold >= 0) {
      use_published_threshold(*known, settings);
    }
    proc_crypto.remove_prefix(std::min(end + 1, proc_crypto.size()));
  }
}

}  // namespace kaccel
