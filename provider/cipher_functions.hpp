// A software cipher's dispatch table with its functions by name and type.
#pragma once

#include <openssl/core_dispatch.h>

namespace kaccel {

// A function that is missing from the table stays nullptr.
struct CipherFunctions {
  OSSL_FUNC_cipher_newctx_fn* newctx = nullptr;
  OSSL_FUNC_cipher_freectx_fn* freectx = nullptr;
  OSSL_FUNC_cipher_dupctx_fn* dupctx = nullptr;
  OSSL_FUNC_cipher_encrypt_init_fn* encrypt_init = nullptr;
  OSSL_FUNC_cipher_decrypt_init_fn* decrypt_init = nullptr;
  OSSL_FUNC_cipher_update_fn* update = nullptr;
  OSSL_FUNC_cipher_final_fn* final = nullptr;
  OSSL_FUNC_cipher_cipher_fn* cipher = nullptr;
  OSSL_FUNC_cipher_get_params_fn* get_params = nullptr;
  OSSL_FUNC_cipher_get_ctx_params_fn* get_ctx_params = nullptr;
  OSSL_FUNC_cipher_set_ctx_params_fn* set_ctx_params = nullptr;
  OSSL_FUNC_cipher_gettable_params_fn* gettable_params = nullptr;
  OSSL_FUNC_cipher_gettable_ctx_params_fn* gettable_ctx_params = nullptr;
  OSSL_FUNC_cipher_settable_ctx_params_fn* settable_ctx_params = nullptr;
};

CipherFunctions resolve(const OSSL_DISPATCH* table) noexcept;

// Whether a context of kaccel's own can stand before these functions: everything that moves data or
// state is there. OpenSSL's ciphers have it all, but for the duplication of a GCM context before
// 3.0.9; another vendor's default provider might not.
bool complete(const CipherFunctions& functions) noexcept;

}  // namespace kaccel
