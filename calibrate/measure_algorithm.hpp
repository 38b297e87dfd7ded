// Measures one algorithm on one driver, as an application would see it: through EVP, on one
// long-lived context a direction, in place as libssl and `openssl speed` do.
//
// An operation is an update of a block mode; a data unit of XTS; with GCM a whole message, from its
// IV to its tag; with HMAC a whole message under the same key. Several callers at a time have a
// context each, on both sides alike.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/call_size.hpp"
#include "calibrate/helper_process.hpp"
#include "calibrate/software_contexts.hpp"
#include "calibrate/sweep.hpp"
#include "kernel-bridge/transport.hpp"
#include "provider/algorithms.hpp"

namespace kaccel::calibrate {

struct MeasurementPlan {
  const Algorithm& algorithm;
  std::string driver;
  CallLimits limits;               // what is known, and what the self-test found
  std::vector<std::size_t> sizes;  // of sizes_to_measure()
  Preference preference = {};
  unsigned threads = 1;  // callers at a time, 1 to ConcurrentCallers::most
};

struct BothDirections {
  std::vector<SizeMeasurement> encrypt;  // one a size of the plan; all there is of an HMAC
  std::vector<SizeMeasurement> decrypt;
};

using OnSize = std::function<void(kernel::Direction direction, std::size_t size)>;

// Runs in a helper process; sizes that a hang or crash cost come back as failed. `on_size` is
// called after each size. Throws OpensslError where OpenSSL lacks the algorithm's provider.
BothDirections measure_algorithm(const MeasurementPlan& plan, SoftwareContexts& software,
                                 kernel::Transport& transport, const OnSize& on_size,
                                 const HelperLimits& limits = {});

}  // namespace kaccel::calibrate
