/* SPDX-License-Identifier: MIT */
/* digest.h - SHA-256; and for compatibility MD5 of files and HMAC-SHA1 of signatures. */
#ifndef WIRE_TLS_DIGEST_H
#define WIRE_TLS_DIGEST_H

#include <stddef.h>

enum { DIGEST_SIZE = 32, DIGEST_TEXT_SIZE = 2 * DIGEST_SIZE + 1 };

void digest_sha256(const void *bytes, size_t n, unsigned char to[DIGEST_SIZE]);
void digest_sha256_text(const void *bytes, size_t n, char to[DIGEST_TEXT_SIZE]); /* in hex */

/* HMAC-SHA1, with which BlueKing's clients sign, of a list of pieces. */
enum { DIGEST_HMAC_SIZE = 20 };
struct digest_piece {
    const void *bytes;
    size_t n;
};
void digest_hmac_sha1(const void *key, size_t key_n, const struct digest_piece *pieces, size_t n,
                      unsigned char to[DIGEST_HMAC_SIZE]);

/* Incremental.  NULL: this host's OpenSSL has no MD5 (FIPS). */
enum { MD5_TEXT_SIZE = 33 };
struct md5;
struct md5 *md5_new(void);
void md5_add(struct md5 *m, const void *bytes, size_t n);
void md5_text(struct md5 *m, char to[MD5_TEXT_SIZE]); /* of all bytes added; call it once */
void md5_free(struct md5 *m);                         /* NULL is allowed */

#endif
