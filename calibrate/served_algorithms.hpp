// Which of OpenSSL's algorithms a kernel driver can serve.
#pragma once

#include <string>
#include <vector>

#include "kernel-bridge/discovery.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::calibrate {

// The row that the driver itself computes: for GCM, CTR with the same key size; else `algorithm`.
const Algorithm& driver_side(const Algorithm& algorithm) noexcept;

// Why the driver cannot serve the algorithm, in one phrase; "" where it may. Asks nobody: what is
// known of the driver and what /proc/crypto says of it.
std::string why_not_served(const kernel::Driver& driver, const Algorithm& algorithm);

// In the order of the table.
std::vector<const Algorithm*> served_algorithms(const kernel::Driver& driver);

// The same for a person: "AES-128/256-CTR, AES-128/256-GCM".
std::string describe_served(const kernel::Driver& driver);

}  // namespace kaccel::calibrate
