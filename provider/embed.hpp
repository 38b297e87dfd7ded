// kaccel inside a program that links it: for kaccel-calibrate and the tests. Applications load the
// module instead.
#pragma once

#include <openssl/provider.h>

#include <memory>

#include "kernel-bridge/transport.hpp"
#include "provider/settings.hpp"

namespace kaccel {

// Which ciphers: all that kaccel has, or those that have a driver in the settings, which is faster.
enum class Offered : bool { all, only_routed };

// Loads kaccel into `libctx` (not nullptr, no other kaccel in it) with these settings in place of a
// configuration, and with `transport` in place of AF_ALG where one is given (it must outlive the
// provider). Returns nullptr with OpenSSL errors on failure; unload with OSSL_PROVIDER_unload.
OSSL_PROVIDER* load_embedded(OSSL_LIB_CTX* libctx, const Settings& settings,
                             kernel::Transport* transport = nullptr,
                             Offered offered = Offered::all);

}  // namespace kaccel
