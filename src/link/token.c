/* SPDX-License-Identifier: MIT */
/* token.c - see token.h. */
#include "link/token.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/sys.h"
#include "base/text/base64.h"
#include "base/text/hex.h"

static const char head[] = "hf1.";

enum { HEAD = sizeof(head) - 1, SECRET = 21, CHECK = 4, SIGNED = SECRET + DIGEST_SIZE };

/* The bytes that are written as base64; without padding between the members. */
struct body {
    unsigned char secret[SECRET], ca[DIGEST_SIZE], check[CHECK];
};

static_assert(sizeof(struct body) == SIGNED + CHECK, "without a gap");
static_assert(TOKEN_SECRET_SIZE == BASE64_SIZE(SECRET), "holds the secret");
static_assert(TOKEN_TEXT_SIZE == HEAD + BASE64_SIZE(sizeof(struct body)), "holds the token");

static void write_checksum(const struct body *b, unsigned char to[CHECK])
{
    unsigned char all[HEAD + SIGNED], digest[DIGEST_SIZE];

    memcpy(all, head, HEAD);
    memcpy(all + HEAD, b->secret, SECRET);
    memcpy(all + HEAD + SECRET, b->ca, DIGEST_SIZE);
    digest_sha256(all, sizeof(all), digest);
    memcpy(to, digest, CHECK);
    explicit_bzero(all, sizeof(all));
}

void token_new(const char *ca, struct token *ret)
{
    unsigned char secret[SECRET];

    assert(strlen(ca) == DIGEST_TEXT_SIZE - 1);
    sys_random(secret, sizeof(secret));
    base64_write(secret, sizeof(secret), ret->secret);
    memcpy(ret->ca, ca, DIGEST_TEXT_SIZE);
    explicit_bzero(secret, sizeof(secret));
}

void token_write(const struct token *t, char to[TOKEN_TEXT_SIZE])
{
    struct body b;

    if (!base64_read(t->secret, b.secret, SECRET) || !hex_read(t->ca, b.ca, DIGEST_SIZE))
        abort(); /* the token is not from token_new() or token_read() */
    write_checksum(&b, b.check);
    memcpy(to, head, HEAD);
    base64_write(&b, sizeof(b), to + HEAD);
    explicit_bzero(&b, sizeof(b));
}

static int check_form(const char *text, struct err *err)
{
    size_t n = strlen(text);

    if (strncmp(text, head, 2) != 0)
        return err_set(err, ERR_INVALID, "join token: it must begin with %s", head);
    if (strncmp(text, head, HEAD) != 0)
        return err_set(err, ERR_INVALID, "join token: not of version 1, the only one known here");
    if (n != TOKEN_TEXT_SIZE - 1)
        return err_set(err, ERR_INVALID, "join token: it has %zu characters, not %d", n,
                       TOKEN_TEXT_SIZE - 1);
    return 0;
}

int token_read(const char *text, struct token *ret, struct err *err)
{
    unsigned char check[CHECK];
    struct body b;
    int bad = 0;

    if (check_form(text, err))
        return -1;
    if (!base64_read(text + HEAD, &b, sizeof(b)))
        return err_set(err, ERR_INVALID, "join token: a character that can not be in it");
    write_checksum(&b, check);
    if (memcmp(check, b.check, CHECK) != 0) {
        bad = err_set(err, ERR_INVALID, "join token: it was not copied faithfully");
    } else {
        base64_write(b.secret, SECRET, ret->secret);
        hex_write(b.ca, DIGEST_SIZE, ret->ca);
    }
    explicit_bzero(&b, sizeof(b));
    return bad;
}
