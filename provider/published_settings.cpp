#include "kernel-bridge/known_drivers.hpp"
#include "kernel-bridge/proc_crypto.hpp"
#include "provider/settings.hpp"

namespace kaccel {

void published_settings(std::string_view proc_crypto, Settings& settings) {
  for (const kernel::ProcCryptoEntry& entry : kernel::parse_proc_crypto(proc_crypto)) {
    const kernel::KnownDriver* known = kernel::find_known_driver(entry.driver);
    if (known == nullptr || known->published_threshold < 0) continue;
    for (std::size_t i = 0; i < cipher_algorithms.size(); ++i) {
      if (cipher_algorithms[i].kernel_algorithm != known->algorithm) continue;
      AlgorithmSettings& row = settings.ciphers[i];
      row.driver = known->driver;
      row.encrypt = known->published_threshold;
      row.decrypt = known->published_threshold;
    }
  }
}

}  // namespace kaccel
