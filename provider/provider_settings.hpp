// The settings of a provider that OpenSSL loads: from its core's parameters, checked against the
// configuration file they came from.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include <optional>

#include "provider/settings.hpp"

namespace kaccel {

// On an error `settings` is left alone. May throw std::bad_alloc.
std::optional<SettingsError> load_settings(const OSSL_CORE_HANDLE* handle,
                                           const OSSL_DISPATCH* core_functions, Settings& settings);

}  // namespace kaccel
