// What about this kernel decides whether a driver can be used, and which wall a user has hit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernel-bridge/discovery.hpp"
#include "kernel-bridge/status.hpp"

namespace kaccel::calibrate {

struct KernelFacts {
  std::string release;  // uname -r
  int major = 0;
  int minor = 0;
  std::optional<int> af_alg_restrict;  // sysctl crypto.af_alg_restrict, Linux 7.3 and later
  bool seccomp_filter = false;         // in force over this process
};

KernelFacts this_kernel();

// major and minor of a release such as "7.2.13-amd64"; zeros where it has none.
void parse_release(std::string_view release, KernelFacts& facts);

// Why binding the driver's own name failed with `status`, in one phrase for a person.
std::string why_unusable(const kernel::Driver& driver, const kernel::Status& status,
                         const KernelFacts& kernel);

// Why there is no AF_ALG, and what to do, in one phrase. `status` is a failure.
std::string why_no_af_alg(const kernel::Status& status);

}  // namespace kaccel::calibrate
