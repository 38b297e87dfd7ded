// The sides there are. Each factory throws std::runtime_error, saying why, where its side cannot be
// had on this machine.
#pragma once

#include <memory>
#include <string>

#include "drivers.hpp"
#include "side.hpp"

namespace kaccel::bench {

// EVP in a library context of its own with this configuration file.
std::unique_ptr<Side> make_evp_side(const std::string& name, const std::string& configuration);

// OpenSSL's engine "afalg": AES-CBC through the kernel's preferred driver.
std::unique_ptr<Side> make_engine_side();

// libkcapi's one-shot functions on the device's drivers.
std::unique_ptr<Side> make_kcapi_side(const Drivers& drivers);

// libkcapi's version, "" where the bench was built without it.
std::string kcapi_version();

// A bare AF_ALG socket on the device's drivers.
std::unique_ptr<Side> make_raw_side(const Drivers& drivers);

}  // namespace kaccel::bench
