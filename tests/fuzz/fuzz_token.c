/* SPDX-License-Identifier: MIT */
/* fuzz_token.c - any text: what is read as a token is written as the same text.
 * Any bytes: a token made of them is read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "link/token.h"

enum { SECRET = 21 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    char again[TOKEN_TEXT_SIZE];
    struct err err = { 0 };
    struct token t;

    if (token_read(text, &t, &err)) {
        if (err.code != ERR_INVALID)
            abort();
        return;
    }
    token_write(&t, again);
    if (strcmp(again, text) != 0)
        abort();
}

static void check_bytes(const uint8_t *data)
{
    char text[TOKEN_TEXT_SIZE];
    struct err err = { 0 };
    struct token t, back;

    base64_write(data, SECRET, t.secret);
    hex_write(data + SECRET, DIGEST_SIZE, t.ca);
    token_write(&t, text);
    if (token_read(text, &back, &err) || memcmp(&t, &back, sizeof(t)) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xmemdup((const char *)data, size);

    check_text(text);
    if (size >= SECRET + DIGEST_SIZE)
        check_bytes(data);
    free(text);
    return 0;
}
