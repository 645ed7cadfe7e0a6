/* SPDX-License-Identifier: MIT */
/* digest.c - see digest.h. */
#include "wire/digest.h"

#include <openssl/sha.h>
#include <stdlib.h>

#include "base/hex.h"

void digest_sha256(const void *bytes, size_t n, unsigned char to[DIGEST_SIZE])
{
    if (!SHA256(bytes, n, to))
        abort(); /* out of memory: it has no other way to fail */
}

void digest_sha256_text(const void *bytes, size_t n, char to[DIGEST_TEXT_SIZE])
{
    unsigned char digest[DIGEST_SIZE];

    digest_sha256(bytes, n, digest);
    hex_write(digest, sizeof(digest), to);
}
