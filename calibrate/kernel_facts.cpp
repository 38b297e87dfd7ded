#include "calibrate/kernel_facts.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <charconv>
#include <cstring>

#include "kernel-bridge/proc_crypto.hpp"
#include "kernel-bridge/seccomp_state.hpp"

namespace kaccel::calibrate {
namespace {

using kernel::Failure;

bool hides_hardware(const KernelFacts& kernel) {
  return kernel.major > 7 || (kernel.major == 7 && kernel.minor >= 2);
}

}  // namespace

KernelFacts this_kernel() {
  KernelFacts facts;
  utsname name{};
  if (uname(&name) == 0) facts.release = name.release;
  parse_release(facts.release, facts);
  const auto text = kernel::read_text_file("/proc/sys/crypto/af_alg_restrict");
  int value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{}) {
    facts.af_alg_restrict = value;
  }
  facts.seccomp_filter = kernel::seccomp_filter_in_force();
  return facts;
}

void parse_release(std::string_view release, KernelFacts& facts) {
  const char* end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, facts.major);
  if (error == std::errc{} && dot != end && *dot == '.') {
    std::from_chars(dot + 1, end, facts.minor);
  }
}

std::string why_unusable(const kernel::Driver& driver, const kernel::Status& status,
                         const KernelFacts& kernel) {
  switch (status.failure) {
    case Failure::no_af_alg:
    case Failure::denied:
      return why_no_af_alg(status);
    case Failure::no_driver:
      break;
    default:
      return status.error_number == 0 ? kernel::describe(status.failure)
                                      : fmt::format("{} ({})", kernel::describe(status.failure),
                                                    std::strerror(status.error_number));
  }
  if (driver.entry.internal) return "internal to another driver";
  if (!driver.entry.selftest_passed) return "the kernel's own self-test did not pass";
  if (hides_hardware(kernel) && driver.hardness == kernel::Hardness::hardware) {
    return fmt::format("hidden: Linux 7.2 and later keep hardware drivers from AF_ALG (this is {})",
                       kernel.release);
  }
  if (kernel.af_alg_restrict.value_or(0) != 0) {
    return fmt::format("not on the kernel's list (sysctl crypto.af_alg_restrict = {})",
                       *kernel.af_alg_restrict);
  }
  return fmt::format("listed, but its name does not bind: the kernel may lack the module algif_{}",
                     kernel::info(driver.algorithm).socket_type);
}

std::string why_no_af_alg(const kernel::Status& status) {
  if (status.failure == Failure::denied) {
    return fmt::format(
        "AF_ALG is denied by policy ({}): a container's seccomp profile or a "
        "security module",
        std::strerror(status.error_number));
  }
  return "this kernel has no AF_ALG (CONFIG_CRYPTO_USER_API_SKCIPHER, module algif_skcipher)";
}

}  // namespace kaccel::calibrate
