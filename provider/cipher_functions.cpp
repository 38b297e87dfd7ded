#include "provider/cipher_functions.hpp"

namespace kaccel {

CipherFunctions resolve(const OSSL_DISPATCH* table) noexcept {
  CipherFunctions f;
  for (; table->function_id != 0; ++table) {
    switch (table->function_id) {
      case OSSL_FUNC_CIPHER_NEWCTX:
        f.newctx = OSSL_FUNC_cipher_newctx(table);
        break;
      case OSSL_FUNC_CIPHER_FREECTX:
        f.freectx = OSSL_FUNC_cipher_freectx(table);
        break;
      case OSSL_FUNC_CIPHER_DUPCTX:
        f.dupctx = OSSL_FUNC_cipher_dupctx(table);
        break;
      case OSSL_FUNC_CIPHER_ENCRYPT_INIT:
        f.encrypt_init = OSSL_FUNC_cipher_encrypt_init(table);
        break;
      case OSSL_FUNC_CIPHER_DECRYPT_INIT:
        f.decrypt_init = OSSL_FUNC_cipher_decrypt_init(table);
        break;
      case OSSL_FUNC_CIPHER_UPDATE:
        f.update = OSSL_FUNC_cipher_update(table);
        break;
      case OSSL_FUNC_CIPHER_FINAL:
        f.final = OSSL_FUNC_cipher_final(table);
        break;
      case OSSL_FUNC_CIPHER_CIPHER:
        f.cipher = OSSL_FUNC_cipher_cipher(table);
        break;
      case OSSL_FUNC_CIPHER_GET_PARAMS:
        f.get_params = OSSL_FUNC_cipher_get_params(table);
        break;
      case OSSL_FUNC_CIPHER_GET_CTX_PARAMS:
        f.get_ctx_params = OSSL_FUNC_cipher_get_ctx_params(table);
        break;
      case OSSL_FUNC_CIPHER_SET_CTX_PARAMS:
        f.set_ctx_params = OSSL_FUNC_cipher_set_ctx_params(table);
        break;
      case OSSL_FUNC_CIPHER_GETTABLE_PARAMS:
        f.gettable_params = OSSL_FUNC_cipher_gettable_params(table);
        break;
      case OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS:
        f.gettable_ctx_params = OSSL_FUNC_cipher_gettable_ctx_params(table);
        break;
      case OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS:
        f.settable_ctx_params = OSSL_FUNC_cipher_settable_ctx_params(table);
        break;
      default:
        break;
    }
  }
  return f;
}

bool complete(const CipherFunctions& f) noexcept {
  return f.newctx && f.freectx && f.encrypt_init && f.decrypt_init && f.update && f.final &&
         f.cipher && f.get_params && f.get_ctx_params && f.set_ctx_params;
}

}  // namespace kaccel
