// The device's drivers, which the sides below OpenSSL name.
#pragma once

#include <map>
#include <string>

#include "kernel-bridge/algorithm.hpp"

namespace kaccel::bench {

// The hardware driver of highest priority for each algorithm that has one.
using Drivers = std::map<kernel::Algorithm, std::string>;
Drivers hardware_drivers();

// The driver of highest priority, hardware or not: the one the kernel takes for a name such as
// "cbc(aes)". "" where there is none.
std::string preferred_driver(kernel::Algorithm algorithm);

}  // namespace kaccel::bench
