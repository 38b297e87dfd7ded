// What the commands look at: this machine, or in tests one that is made up.
#pragma once

#include <string>
#include <vector>

#include "calibrate/kernel_facts.hpp"
#include "kernel-bridge/discovery.hpp"
#include "kernel-bridge/transport.hpp"

namespace kaccel::calibrate {

struct AeadDriver {
  kernel::ProcCryptoEntry entry;
  kernel::HardnessVerdict verdict;
};

struct Machine {
  KernelFacts kernel;
  kernel::Status af_alg;
  std::vector<kernel::Driver> drivers;  // all that serve an algorithm kaccel knows
  kernel::Transport& transport;         // outlives the machine
  // Drivers of gcm(aes) itself, which kaccel does not use: see list.
  std::vector<AeadDriver> aead_drivers{};
};

// Those entries that are drivers of gcm(aes) of their own, and no template over other drivers.
std::vector<AeadDriver> select_aead_drivers(const std::vector<kernel::ProcCryptoEntry>& entries,
                                            const kernel::DriverFlags& flags);

// Looks at this machine. Opens one socket to see whether AF_ALG is there.
Machine this_machine(kernel::Transport& transport);

// The driver of that name, or nullptr.
const kernel::Driver* find_driver(const Machine& machine, std::string_view name) noexcept;

}  // namespace kaccel::calibrate
