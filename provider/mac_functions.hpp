// A software MAC's dispatch table with its functions by name and type.
#pragma once

#include <openssl/core_dispatch.h>

namespace kaccel {

// A function that is missing from the table stays nullptr.
struct MacFunctions {
  OSSL_FUNC_mac_newctx_fn* newctx = nullptr;
  OSSL_FUNC_mac_freectx_fn* freectx = nullptr;
  OSSL_FUNC_mac_dupctx_fn* dupctx = nullptr;
  OSSL_FUNC_mac_init_fn* init = nullptr;
  OSSL_FUNC_mac_update_fn* update = nullptr;
  OSSL_FUNC_mac_final_fn* final = nullptr;
  OSSL_FUNC_mac_get_ctx_params_fn* get_ctx_params = nullptr;
  OSSL_FUNC_mac_set_ctx_params_fn* set_ctx_params = nullptr;
  OSSL_FUNC_mac_gettable_params_fn* gettable_params = nullptr;
  OSSL_FUNC_mac_gettable_ctx_params_fn* gettable_ctx_params = nullptr;
  OSSL_FUNC_mac_settable_ctx_params_fn* settable_ctx_params = nullptr;
};

MacFunctions resolve_mac(const OSSL_DISPATCH* table) noexcept;

// Whether a context of kaccel's own can stand before these functions.
bool complete(const MacFunctions& functions) noexcept;

}  // namespace kaccel
