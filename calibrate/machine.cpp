#include "calibrate/machine.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace kaccel::calibrate {

std::vector<AeadDriver> select_aead_drivers(const std::vector<kernel::ProcCryptoEntry>& entries,
                                            const kernel::DriverFlags& flags) {
  std::vector<AeadDriver> drivers;
  for (const auto& entry : entries) {
    if (entry.name != "gcm(aes)" || entry.type != "aead") continue;
    const auto found = flags.find(entry.driver);
    const auto verdict = kernel::judge(
        entry, found == flags.end() ? std::nullopt : std::optional<std::uint32_t>(found->second));
    if (verdict.hardness != kernel::Hardness::not_a_driver) drivers.push_back({entry, verdict});
  }
  return drivers;
}

Machine this_machine(kernel::Transport& transport) {
  auto entries = kernel::parse_proc_crypto(kernel::read_text_file("/proc/crypto"));
  const auto flags = entries.empty() ? kernel::DriverFlags{} : kernel::read_driver_flags();
  auto aead_drivers = select_aead_drivers(entries, flags);
  return {this_kernel(), kernel::af_alg_available(),
          kernel::select_drivers(std::move(entries), flags), transport, std::move(aead_drivers)};
}

const kernel::Driver* find_driver(const Machine& machine, std::string_view name) noexcept {
  const auto found =
      std::find_if(machine.drivers.begin(), machine.drivers.end(),
                   [&](const kernel::Driver& driver) { return driver.entry.driver == name; });
  return found != machine.drivers.end() ? &*found : nullptr;
}

}  // namespace kaccel::calibrate
