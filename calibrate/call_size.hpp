// Which calls of an application a driver may see, for those who ask beforehand: what the provider's
// contexts (CipherContext, XtsContext, GcmContext, HmacContext) decide call by call.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "kernel-bridge/restrictions.hpp"
#include "kernel-bridge/transport.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::calibrate {

// What limits the calls of one algorithm on one driver.
struct CallLimits {
  kernel::Restrictions restrictions;
  bool ciphertext_stealing = false;  // XTS: units that are not whole blocks
  // Bytes that the kernel takes in one request; counts where a call cannot be split.
  std::size_t longest_request = std::numeric_limits<std::size_t>::max();
};

// Bytes of a call of `size` that count when it is routed: whole blocks where data may be cut.
std::size_t routed_bytes(const Algorithm& algorithm, std::size_t size) noexcept;

// Why a call of that form never goes to a driver, in one phrase; "" where it may.
std::string why_unfit(const Algorithm& algorithm, std::size_t size, const CallLimits& limits);

// Whether a call of that size may go to the driver, thresholds apart.
bool permits_call(const Algorithm& algorithm, std::size_t size, const CallLimits& limits);

// The sizes at which an algorithm is measured: block modes as whole blocks, XTS from a block on,
// the rest as they are; ascending, each once.
std::vector<std::size_t> sizes_to_measure(const Algorithm& algorithm,
                                          const std::vector<std::size_t>& sizes);

// Session::max_request() of the driver, which takes a key to find out; no limit where that fails.
std::size_t longest_request(kernel::Transport& transport, const std::string& driver,
                            const Algorithm& algorithm);

}  // namespace kaccel::calibrate
