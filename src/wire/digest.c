/* SPDX-License-Identifier: MIT */
/* digest.c - see digest.h. */
#include "wire/digest.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>

#include "base/hex.h"
#include "base/mem.h"

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

struct md5 {
    EVP_MD_CTX *ctx;
};

struct md5 *md5_new(void)
{
    struct md5 *m = xalloc(sizeof(*m));

    m->ctx = EVP_MD_CTX_new();
    if (m->ctx && EVP_DigestInit_ex(m->ctx, EVP_md5(), NULL) == 1)
        return m;
    md5_free(m);
    return NULL;
}

void md5_add(struct md5 *m, const void *bytes, size_t n)
{
    if (EVP_DigestUpdate(m->ctx, bytes, n) != 1)
        abort(); /* it has begun: it has no way to fail */
}

void md5_text(struct md5 *m, char to[MD5_TEXT_SIZE])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    if (EVP_DigestFinal_ex(m->ctx, digest, &n) != 1 || 2 * n + 1 != MD5_TEXT_SIZE)
        abort();
    hex_write(digest, n, to);
}

void md5_free(struct md5 *m)
{
    if (m)
        EVP_MD_CTX_free(m->ctx);
    free(m);
}
