/* SPDX-License-Identifier: MIT */
/* secret.h - secrets that clients send to authenticate, and their stored hashes.
 *
 * A secret is generated here from 256 random bits, so storing a plain SHA-256 of it is enough:
 * it cannot be guessed, and the hash reveals nothing.  Passwords that people choose must not be
 * handled this way. */
#ifndef WIRE_TLS_SECRET_H
#define WIRE_TLS_SECRET_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SECRET_BYTES = 32,
    SECRET_TEXT_SIZE = 44, /* base64url */
    SECRET_HASH_SIZE = 72  /* "sha256:" and 64 hex digits */
};

void secret_new(char to[SECRET_TEXT_SIZE]);
void secret_hash(const char *text, char to[SECRET_HASH_SIZE]);

/* Whether `hash` is the hash of the secret `text`.  A malformed hash matches nothing. */
bool secret_matches(const char *text, const char *hash);
/* The same, for the hash of a text. */
bool secret_fits(const char own[SECRET_HASH_SIZE], const char *hash);

/* Compares in constant time: timing does not reveal how many bytes are right. */
bool secret_equal(const void *a, const void *b, size_t n);

#endif
