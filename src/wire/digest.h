/* SPDX-License-Identifier: MIT */
/* digest.h - SHA-256. */
#ifndef WIRE_DIGEST_H
#define WIRE_DIGEST_H

#include <stddef.h>

enum { DIGEST_SIZE = 32, DIGEST_TEXT_SIZE = 2 * DIGEST_SIZE + 1 };

void digest_sha256(const void *bytes, size_t n, unsigned char to[DIGEST_SIZE]);
void digest_sha256_text(const void *bytes, size_t n, char to[DIGEST_TEXT_SIZE]); /* in hex */

#endif
