// OSSL_PARAM_locate for the hot paths: most arrays hold one parameter, mostly another one, and its
// first two letters tell. (Every name has as many.)
#pragma once

#include <openssl/core.h>

#include <cstring>

namespace kaccel {

// The element of `params` (ended by a nullptr key, itself never nullptr) called `key`, or nullptr.
template <class Param>
Param* find_param(Param* params, const char* key) noexcept {
  for (; params->key != nullptr; ++params) {
    if (params->key[0] == key[0] && params->key[1] == key[1] &&
        std::strcmp(params->key, key) == 0) {
      return params;
    }
  }
  return nullptr;
}

}  // namespace kaccel
