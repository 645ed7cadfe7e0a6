/* SPDX-License-Identifier: MIT */
/* token.h - a join token, with which a new agent finds the right server and is admitted by it.
 *
 * One line of 80 characters: "hf1." and base64url of the secret (21 random bytes), the SHA-256 of
 * the CA's certificate, and 4 bytes of checksum against typing errors.  The agent trusts only a
 * server of that CA (tls_config.ca_pin) and only then sends the secret; the server stores only
 * secret_hash() of it and compares with secret_matches().  Errors never repeat the text. */
#ifndef LINK_TOKEN_H
#define LINK_TOKEN_H

#include "base/text/err.h"
#include "wire/tls/digest.h"

enum { TOKEN_SECRET_SIZE = 29, TOKEN_TEXT_SIZE = 81 }; /* each with its NUL */

struct token {
    char secret[TOKEN_SECRET_SIZE]; /* base64url */
    char ca[DIGEST_TEXT_SIZE];      /* hex */
};

/* `ca` is a fingerprint by ca_fingerprint(). */
void token_new(const char *ca, struct token *ret);
void token_write(const struct token *t, char to[TOKEN_TEXT_SIZE]);
int token_read(const char *text, struct token *ret, struct err *err);

#endif
