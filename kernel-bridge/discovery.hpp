// Which drivers this kernel has, which of them are hardware, and which can be used.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel-bridge/algorithm.hpp"
#include "kernel-bridge/crypto_netlink.hpp"
#include "kernel-bridge/known_drivers.hpp"
#include "kernel-bridge/proc_crypto.hpp"
#include "kernel-bridge/status.hpp"
#include "kernel-bridge/transport.hpp"

namespace kaccel::kernel {

enum class Hardness : std::uint8_t {
  hardware,      // goes to a device
  software,      // computes on the CPU
  not_a_driver,  // a template instance, internal helper or wrapper over another driver
};

struct Driver {
  ProcCryptoEntry entry;               // as the kernel lists it
  std::optional<std::uint32_t> flags;  // CRYPTO_ALG_*, where NETLINK_CRYPTO answered
  Algorithm algorithm;
  const KnownDriver* known;  // the row of the known-drivers table, or nullptr
  Hardness hardness;
  const char* reason;  // why this hardness, one phrase, e.g. "flag KERN_DRIVER_ONLY"
};

// Decides from an entry and, where NETLINK_CRYPTO gave them, its flags; pure. DESIGN 4.3. Without
// flags the `async` and `internal` fields, the form of the name and two tables of names decide.
struct HardnessVerdict {
  Hardness hardness;
  const char* reason;  // one phrase for a person; static storage
};
HardnessVerdict judge(const ProcCryptoEntry& entry, std::optional<std::uint32_t> flags) noexcept;

// The entries that serve an algorithm kaccel knows, each once, in their order, joined with `flags`
// and judged. AEADs and template helpers of other types are left out. May throw std::bad_alloc.
std::vector<Driver> select_drivers(std::vector<ProcCryptoEntry> entries, const DriverFlags& flags);

// select_drivers() of a /proc/crypto file and of what NETLINK_CRYPTO answers now. Empty where the
// file is missing; without flags where the kernel does not answer. May throw std::bad_alloc.
std::vector<Driver> discover(const std::string& proc_crypto_path = "/proc/crypto");

// Whether an AF_ALG socket can be had, asked of the kernel by opening one. Failures: no_af_alg (the
// kernel has none; systemd's RestrictAddressFamilies= answers alike), denied, no_descriptors,
// no_memory, driver_error for any other errno.
Status af_alg_available() noexcept;

// Whether the driver's own name binds: opens and closes one session; no key, no data. Failures: as
// of Transport::open; no_driver for a name longer than 63 characters.
Status probe(Transport& transport, const Driver& driver) noexcept;

}  // namespace kaccel::kernel
