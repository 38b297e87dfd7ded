#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/opensslv.h>
#include <string.h>

#include "application.h"

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/core_names.h>
#include <openssl/params.h>
#endif

#define KEY_SIZE 32

static int give(struct message* message, const unsigned char* result, size_t size) {
  memcpy(message->data, result, size);
  message->size = size;
  return 1;
}

/* All in one call. */
static int hmac_sha256(struct message* message, int encrypt) {
  unsigned char result[EVP_MAX_MD_SIZE];
  unsigned size = 0;

  (void)encrypt;
  return HMAC(EVP_sha256(), application_key, KEY_SIZE, message->data, message->size, result,
              &size) != NULL &&
         give(message, result, size);
}

/* Three MACs: of all, of the first half by a copy made there, and of all again after a restart that
 * names neither key nor digest. */
static int hmac_sha1_copied(struct message* message, int encrypt) {
  HMAC_CTX *ctx = HMAC_CTX_new(), *copy = HMAC_CTX_new();
  unsigned char results[3 * EVP_MAX_MD_SIZE];
  size_t half = message->size / 2, done;
  unsigned first = 0, second = 0, third = 0;
  int ok;

  (void)encrypt;
  ok = ctx != NULL && copy != NULL &&
       HMAC_Init_ex(ctx, application_key, KEY_SIZE, EVP_sha1(), NULL) &&
       HMAC_Update(ctx, message->data, half) && HMAC_CTX_copy(copy, ctx);
  for (done = half; ok && done < message->size;) {
    size_t take = message->size - done < CHUNK ? message->size - done : CHUNK;

    ok = HMAC_Update(ctx, message->data + done, take);
    done += take;
  }
  ok = ok && HMAC_Final(ctx, results, &first) && HMAC_Final(copy, results + first, &second) &&
       HMAC_Init_ex(ctx, NULL, 0, NULL, NULL) && HMAC_Update(ctx, message->data, message->size) &&
       HMAC_Final(ctx, results + first + second, &third);
  HMAC_CTX_free(ctx);
  HMAC_CTX_free(copy);
  return ok && give(message, results, first + second + third);
}

/* The key as a "private key", the MAC as its signature. */
static int hmac_sha256_signature(struct message* message, int encrypt) {
  EVP_PKEY* key = EVP_PKEY_new_mac_key(EVP_PKEY_HMAC, NULL, application_key, KEY_SIZE);
  EVP_MD_CTX* ctx = EVP_MD_CTX_new();
  unsigned char result[EVP_MAX_MD_SIZE];
  size_t size = sizeof result;
  int ok;

  (void)encrypt;
  ok = key != NULL && ctx != NULL && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) &&
       EVP_DigestSignUpdate(ctx, message->data, message->size) &&
       EVP_DigestSignFinal(ctx, result, &size);
  EVP_MD_CTX_free(ctx);
  EVP_PKEY_free(key);
  return ok && give(message, result, size);
}

/* A key that PBKDF2 makes of the message's first bytes: thousands of short HMACs. */
static int pbkdf2(struct message* message, int encrypt) {
  unsigned char result[48];
  size_t password = message->size < 12 ? message->size : 12;

  (void)encrypt;
  return PKCS5_PBKDF2_HMAC((const char*)message->data, (int)password, application_iv,
                           sizeof application_iv, 2000, EVP_sha256(), sizeof result, result) &&
         give(message, result, sizeof result);
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
/* Its authors' first steps with OpenSSL 3. */
static int evp_mac(struct message* message, int encrypt) {
  EVP_MAC* mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX* ctx = EVP_MAC_CTX_new(mac);
  char digest[] = "SHA256";
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                         OSSL_PARAM_construct_end()};
  unsigned char result[EVP_MAX_MD_SIZE];
  size_t size = 0;
  int ok;

  (void)encrypt;
  ok = ctx != NULL && EVP_MAC_init(ctx, application_key, KEY_SIZE, params) &&
       EVP_MAC_update(ctx, message->data, message->size) &&
       EVP_MAC_final(ctx, result, &size, sizeof result);
  EVP_MAC_CTX_free(ctx);
  EVP_MAC_free(mac);
  return ok && give(message, result, size);
}
#endif

const struct operation mac_operations[] = {
    {"hmac-sha256", hmac_sha256},
    {"hmac-sha1-copied", hmac_sha1_copied},
    {"hmac-sha256-signature", hmac_sha256_signature},
    {"pbkdf2", pbkdf2},
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    {"evp-mac", evp_mac},
#endif
    {NULL, NULL},
};
