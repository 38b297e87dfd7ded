/* An application of the years before providers: it names its ciphers by EVP_aes_256_cbc() and the
 * like, keeps HMAC_CTX, and copies contexts in the middle of a message. Standard input goes through
 * one of its operations to standard output. */
#ifndef APPLICATION_H
#define APPLICATION_H

#include <stddef.h>

/* What it reads and gives to OpenSSL at a time. */
#define CHUNK 16384

/* Key and IV are fixed, as an embedded device's often are. */
extern const unsigned char application_key[64];
extern const unsigned char application_iv[16];

/* The whole of standard input, and room for a block and a tag behind it. */
struct message {
  unsigned char* data;
  size_t size;
};

struct operation {
  const char* name;
  /* Replaces the message by the result; 0 for a failure. */
  int (*run)(struct message* message, int encrypt);
};

extern const struct operation cipher_operations[]; /* the last has no name */
extern const struct operation mac_operations[];

#endif
