/* SPDX-License-Identifier: MIT */
/* token.h - a join token: what a new agent is given to find the right server, and
 * to be let in.
 *
 * One line of 80 characters, "hf1." and base64url of the secret (21 random bytes),
 * the SHA-256 of the CA's certificate, and 4 bytes to notice a typing error.  The
 * agent believes only a server of that CA (tls_config.ca_pin), and only then shows
 * the secret; the server keeps no more than secret_hash() of it, and compares with
 * secret_matches().  Errors never repeat the text. */
#ifndef LINK_TOKEN_H
#define LINK_TOKEN_H

#include "base/err.h"
#include "wire/digest.h"

enum { TOKEN_SECRET_SIZE = 29, TOKEN_TEXT_SIZE = 81 }; /* each with its NUL */

struct token {
    char secret[TOKEN_SECRET_SIZE]; /* base64url */
    char ca[DIGEST_TEXT_SIZE];      /* hex */
};

/* `ca` is as ca_fingerprint() gives it. */
void token_new(const char *ca, struct token *ret);
void token_write(const struct token *t, char to[TOKEN_TEXT_SIZE]);
int token_read(const char *text, struct token *ret, struct err *err);

#endif
