#include <fmt/format.h>

#include <algorithm>

#include "calibrate/doctor/subject.hpp"

namespace kaccel::calibrate::doctor {
namespace {

constexpr const char* check = "kernel";

}  // namespace

bool has_usable_hardware(const Machine& machine) {
  return machine.af_alg &&
         std::any_of(machine.drivers.begin(), machine.drivers.end(), [&](const auto& driver) {
           return driver.hardness == kernel::Hardness::hardware &&
                  kernel::probe(machine.transport, driver);
         });
}

void check_kernel(const Machine& machine, Findings& findings) {
  const char* const means = "everything stays in software";
  if (!machine.af_alg) {
    findings.push_back({State::warning, check, why_no_af_alg(machine.af_alg), "", means});
    return;
  }
  std::size_t usable = 0;
  for (const auto& driver : machine.drivers) {
    if (driver.hardness != kernel::Hardness::hardware) continue;
    const auto status = kernel::probe(machine.transport, driver);
    if (status) {
      ++usable;
      continue;
    }
    findings.push_back({State::warning, check,
                        fmt::format("{} cannot be used: {}", driver.entry.driver,
                                    why_unusable(driver, status, machine.kernel)),
                        "", "what it could do stays in software"});
  }
  if (usable > 0) {
    findings.push_back(ok(check, fmt::format("Linux {}, AF_ALG, {} usable hardware drivers",
                                             machine.kernel.release, usable)));
  } else {
    findings.push_back({State::warning, check,
                        fmt::format("Linux {} has no hardware driver that can be used: "
                                    "kaccel-calibrate list",
                                    machine.kernel.release),
                        "", means});
  }
}

}  // namespace kaccel::calibrate::doctor
