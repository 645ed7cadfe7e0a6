/* SPDX-License-Identifier: MIT */
/* secret.c - see secret.h. */
#include "wire/tls/secret.h"

#include <assert.h>
#include <string.h>

#include "base/os/sys.h"
#include "base/text/base64.h"
#include "wire/tls/digest.h"

static const char scheme[] = "sha256:";

static_assert(SECRET_TEXT_SIZE == BASE64_SIZE(SECRET_BYTES), "holds the text");
static_assert(SECRET_HASH_SIZE == sizeof(scheme) - 1 + DIGEST_TEXT_SIZE, "holds the hash");

void secret_new(char to[SECRET_TEXT_SIZE])
{
    unsigned char bytes[SECRET_BYTES];

    sys_random(bytes, sizeof(bytes));
    base64_write(bytes, sizeof(bytes), to);
    explicit_bzero(bytes, sizeof(bytes));
}

void secret_hash(const char *text, char to[SECRET_HASH_SIZE])
{
    memcpy(to, scheme, sizeof(scheme) - 1);
    digest_sha256_text(text, strlen(text), to + sizeof(scheme) - 1);
}

bool secret_fits(const char own[SECRET_HASH_SIZE], const char *hash)
{
    return strlen(hash) == SECRET_HASH_SIZE - 1 && secret_equal(own, hash, SECRET_HASH_SIZE - 1);
}

bool secret_matches(const char *text, const char *hash)
{
    char own[SECRET_HASH_SIZE];

    secret_hash(text, own);
    return secret_fits(own, hash);
}

/* Uses volatile, so that the compiler cannot end the loop early. */
bool secret_equal(const void *a, const void *b, size_t n)
{
    const volatile unsigned char *p = a, *q = b;
    unsigned char differs = 0;

    for (size_t i = 0; i < n; i++)
        differs |= p[i] ^ q[i];
    return differs == 0;
}
