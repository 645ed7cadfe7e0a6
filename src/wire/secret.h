/* SPDX-License-Identifier: MIT */
/* secret.h - what a client shows to be let in, and what is kept of it.
 *
 * A secret is made here, of 256 random bits; so a plain SHA-256 of it is enough
 * to keep: there is nothing to guess, and the hash gives nothing away.  What
 * people choose (passwords) does not belong here. */
#ifndef WIRE_SECRET_H
#define WIRE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SECRET_BYTES = 32,
    SECRET_TEXT_SIZE = 44, /* base64url */
    SECRET_HASH_SIZE = 72  /* "sha256:" and 64 hex digits */
};

void secret_new(char to[SECRET_TEXT_SIZE]);
void secret_hash(const char *text, char to[SECRET_HASH_SIZE]);

/* Whether `text` is the secret that `hash` was made of.  A hash that is none
 * fits nothing. */
bool secret_matches(const char *text, const char *hash);
bool secret_fits(const char own[SECRET_HASH_SIZE], const char *hash); /* the same, by its hash */

/* Takes as long for any bytes: how many are right can not be measured. */
bool secret_equal(const void *a, const void *b, size_t n);

#endif
