#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"

const unsigned char application_key[64] =
    "Sixty-four bytes that an engineer typed into a header file once.";
const unsigned char application_iv[16] = "And sixteen more";

static int read_all(struct message* message) {
  size_t room = 0, got;

  do {
    if (room < message->size + CHUNK + 64) {
      unsigned char* larger;

      room = 2 * room + CHUNK + 64;
      larger = realloc(message->data, room);
      if (larger == NULL) return 0;
      message->data = larger;
    }
    got = fread(message->data + message->size, 1, CHUNK, stdin);
    message->size += got;
  } while (got > 0);
  return !ferror(stdin);
}

static const struct operation* find(const struct operation* list, const char* name) {
  for (; list->name != NULL; ++list)
    if (strcmp(list->name, name) == 0) return list;
  return NULL;
}

int main(int argc, char** argv) {
  struct message message = {NULL, 0};
  const struct operation* operation;
  int decrypt = argc == 3 && strcmp(argv[2], "-d") == 0;

  if (argc < 2 || argc > 2 + decrypt) {
    fprintf(stderr, "usage: old-application OPERATION [-d] <message >result\n");
    return 2;
  }
  operation = find(cipher_operations, argv[1]);
  if (operation == NULL) operation = find(mac_operations, argv[1]);
  if (operation == NULL) {
    fprintf(stderr, "old-application: no operation '%s'\n", argv[1]);
    return 2;
  }
  if (!read_all(&message) || !operation->run(&message, !decrypt)) {
    ERR_print_errors_fp(stderr);
    fprintf(stderr, "old-application: %s failed\n", argv[1]);
    return 1;
  }
  if (fwrite(message.data, 1, message.size, stdout) != message.size || fflush(stdout) != 0) {
    perror("old-application: standard output");
    return 1;
  }
  free(message.data);
  /* Whoever wrote to OpenSSL's error queue without failing is found here. */
  if (ERR_peek_error() != 0) {
    ERR_print_errors_fp(stderr);
    return 1;
  }
  return 0;
}
