// OSSL_PARAM_locate for the hot paths: most arrays hold one parameter, mostly another one, and its
// first two letters tell. (Every name has as many.)
#pragma once

#include <openssl/core.h>

#include <cstddef>
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

// Whether this (not the end of the array) is called `name`, without a call.
template <std::size_t Size>
bool is_key(const OSSL_PARAM& param, const char (&name)[Size]) noexcept {
  for (std::size_t i = 0; i < Size; ++i) {
    if (param.key[i] != name[i]) return false;
  }
  return true;
}

}  // namespace kaccel
