#include "provider/mac_functions.hpp"

namespace kaccel {

MacFunctions resolve_mac(const OSSL_DISPATCH* table) noexcept {
  MacFunctions f;
  for (; table->function_id != 0; ++table) {
    switch (table->function_id) {
      case OSSL_FUNC_MAC_NEWCTX:
        f.newctx = OSSL_FUNC_mac_newctx(table);
        break;
      case OSSL_FUNC_MAC_FREECTX:
        f.freectx = OSSL_FUNC_mac_freectx(table);
        break;
      case OSSL_FUNC_MAC_DUPCTX:
        f.dupctx = OSSL_FUNC_mac_dupctx(table);
        break;
      case OSSL_FUNC_MAC_INIT:
        f.init = OSSL_FUNC_mac_init(table);
        break;
      case OSSL_FUNC_MAC_UPDATE:
        f.update = OSSL_FUNC_mac_update(table);
        break;
      case OSSL_FUNC_MAC_FINAL:
        f.final = OSSL_FUNC_mac_final(table);
        break;
      case OSSL_FUNC_MAC_GET_CTX_PARAMS:
        f.get_ctx_params = OSSL_FUNC_mac_get_ctx_params(table);
        break;
      case OSSL_FUNC_MAC_SET_CTX_PARAMS:
        f.set_ctx_params = OSSL_FUNC_mac_set_ctx_params(table);
        break;
      case OSSL_FUNC_MAC_GETTABLE_PARAMS:
        f.gettable_params = OSSL_FUNC_mac_gettable_params(table);
        break;
      case OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS:
        f.gettable_ctx_params = OSSL_FUNC_mac_gettable_ctx_params(table);
        break;
      case OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS:
        f.settable_ctx_params = OSSL_FUNC_mac_settable_ctx_params(table);
        break;
      default:
        break;
    }
  }
  return f;
}

bool complete(const MacFunctions& f) noexcept {
  return f.newctx && f.freectx && f.dupctx && f.init && f.update && f.final && f.get_ctx_params &&
         f.set_ctx_params;
}

}  // namespace kaccel
