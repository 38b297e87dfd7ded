#include <openssl/bio.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"

/* In place, CHUNK bytes at a time. */
static int stream(EVP_CIPHER_CTX* ctx, struct message* message) {
  size_t in = 0, out = 0;
  int n;

  while (in < message->size) {
    size_t take = message->size - in < CHUNK ? message->size - in : CHUNK;
    unsigned char piece[CHUNK];

    /* With padding the output lags behind or runs ahead, so not in place. */
    memcpy(piece, message->data + in, take);
    if (!EVP_CipherUpdate(ctx, message->data + out, &n, piece, (int)take)) return 0;
    in += take;
    out += (size_t)n;
  }
  if (!EVP_CipherFinal_ex(ctx, message->data + out, &n)) return 0;
  message->size = out + (size_t)n;
  return 1;
}

static int cipher(const EVP_CIPHER* type, struct message* message, int encrypt) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  int ok;

  ok = ctx != NULL &&
       EVP_CipherInit_ex(ctx, type, NULL, application_key, application_iv, encrypt) &&
       stream(ctx, message);
  EVP_CIPHER_CTX_free(ctx);
  return ok;
}

static int aes_256_cbc(struct message* message, int encrypt) {
  return cipher(EVP_aes_256_cbc(), message, encrypt);
}

static int aes_128_ecb(struct message* message, int encrypt) {
  return cipher(EVP_aes_128_ecb(), message, encrypt);
}

static int des_ede3_cbc(struct message* message, int encrypt) {
  return cipher(EVP_des_ede3_cbc(), message, encrypt);
}

/* No padding, cipher first and key later, the IV once more for each half: the context is reused. */
static int aes_128_cbc_halves(struct message* message, int encrypt) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  size_t half = message->size / 32 * 16;
  int n, ok;

  message->size = 2 * half;
  ok = ctx != NULL && EVP_CipherInit_ex(ctx, EVP_aes_128_cbc(), NULL, NULL, NULL, encrypt) &&
       EVP_CIPHER_CTX_set_padding(ctx, 0) && EVP_CIPHER_CTX_key_length(ctx) == 16 &&
       EVP_CipherInit_ex(ctx, NULL, NULL, application_key, application_iv, -1) &&
       EVP_CipherUpdate(ctx, message->data, &n, message->data, (int)half) &&
       EVP_CipherInit_ex(ctx, NULL, NULL, NULL, application_iv, -1) &&
       EVP_CipherUpdate(ctx, message->data + half, &n, message->data + half, (int)half);
  EVP_CIPHER_CTX_free(ctx);
  return ok;
}

/* As OpenSSH does it: EVP_CipherInit() without _ex, EVP_Cipher() in place, nothing final. */
static int aes_256_ctr_evp_cipher(struct message* message, int encrypt) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  size_t done = 0;
  int ok;

  ok = ctx != NULL &&
       EVP_CipherInit(ctx, EVP_aes_256_ctr(), application_key, application_iv, encrypt);
  while (ok && done < message->size) {
    size_t take = message->size - done < CHUNK ? message->size - done : CHUNK;

    ok = EVP_Cipher(ctx, message->data + done, message->data + done, (unsigned)take) > 0;
    done += take;
  }
  EVP_CIPHER_CTX_free(ctx);
  return ok;
}

/* A copy made in the middle goes on; the original does something else first, and is freed. */
static int aes_256_ctr_copied(struct message* message, int encrypt) {
  EVP_CIPHER_CTX *first = EVP_CIPHER_CTX_new(), *second = EVP_CIPHER_CTX_new();
  size_t half = message->size / 2;
  unsigned char other[CHUNK] = {0};
  int n, ok;

  ok =
      first != NULL && second != NULL &&
      EVP_CipherInit_ex(first, EVP_aes_256_ctr(), NULL, application_key, application_iv, encrypt) &&
      EVP_CipherUpdate(first, message->data, &n, message->data, (int)half) &&
      EVP_CIPHER_CTX_copy(second, first) && EVP_CipherUpdate(first, other, &n, other, sizeof other);
  EVP_CIPHER_CTX_free(first);
  ok = ok && EVP_CipherUpdate(second, message->data + half, &n, message->data + half,
                              (int)(message->size - half));
  EVP_CIPHER_CTX_free(second);
  return ok;
}

/* The tag follows the text. Header, IV length and tag by EVP_CIPHER_CTX_ctrl(). */
static int aes_256_gcm(struct message* message, int encrypt) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  unsigned char tag[16];
  int n, ok;

  if (!encrypt) {
    if (message->size < sizeof tag) return 0;
    message->size -= sizeof tag;
    memcpy(tag, message->data + message->size, sizeof tag);
  }
  ok = ctx != NULL && EVP_CipherInit_ex(ctx, EVP_aes_256_gcm(), NULL, NULL, NULL, encrypt) &&
       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IVLEN, 12, NULL) &&
       EVP_CipherInit_ex(ctx, NULL, NULL, application_key, application_iv, encrypt) &&
       EVP_CipherUpdate(ctx, NULL, &n, application_key, 13) &&
       (encrypt || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, sizeof tag, tag)) &&
       stream(ctx, message);
  if (ok && encrypt) {
    ok = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, sizeof tag, tag);
    memcpy(message->data + message->size, tag, sizeof tag);
    message->size += sizeof tag;
  }
  EVP_CIPHER_CTX_free(ctx);
  return ok;
}

/* A disk: each sector is a data unit with its number for IV, on one context. */
static int aes_256_xts_sectors(struct message* message, int encrypt) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  unsigned char number[16] = {0};
  size_t done;
  int n, ok;

  message->size -= message->size % 4096;
  ok = ctx != NULL &&
       EVP_CipherInit_ex(ctx, EVP_aes_256_xts(), NULL, application_key, NULL, encrypt);
  for (done = 0; ok && done < message->size; done += 4096) {
    number[0] = (unsigned char)(done / 4096);
    number[1] = (unsigned char)(done / 4096 / 256);
    ok = EVP_CipherInit_ex(ctx, NULL, NULL, NULL, number, -1) &&
         EVP_CipherUpdate(ctx, message->data + done, &n, message->data + done, 4096);
  }
  EVP_CIPHER_CTX_free(ctx);
  return ok;
}

/* A filter BIO before one in memory. */
static int aes_128_cbc_bio(struct message* message, int encrypt) {
  BIO *filter = BIO_new(BIO_f_cipher()), *memory = BIO_new(BIO_s_mem());
  char* result;
  long size;
  int ok;

  ok = filter != NULL && memory != NULL &&
       BIO_set_cipher(filter, EVP_aes_128_cbc(), application_key, application_iv, encrypt);
  BIO_push(filter, memory);
  ok = ok && BIO_write(filter, message->data, (int)message->size) == (int)message->size &&
       BIO_flush(filter) == 1 && BIO_get_cipher_status(filter) == 1;
  size = BIO_get_mem_data(memory, &result);
  if (ok) memcpy(message->data, result, (size_t)size);
  message->size = (size_t)size;
  BIO_free_all(filter);
  return ok;
}

const struct operation cipher_operations[] = {
    {"aes-256-cbc", aes_256_cbc},
    {"aes-128-ecb", aes_128_ecb},
    {"des-ede3-cbc", des_ede3_cbc},
    {"aes-128-cbc-halves", aes_128_cbc_halves},
    {"aes-256-ctr-evp-cipher", aes_256_ctr_evp_cipher},
    {"aes-256-ctr-copied", aes_256_ctr_copied},
    {"aes-256-gcm", aes_256_gcm},
    {"aes-256-xts-sectors", aes_256_xts_sectors},
    {"aes-128-cbc-bio", aes_128_cbc_bio},
    {NULL, NULL},
};
