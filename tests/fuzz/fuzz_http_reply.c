/* SPDX-License-Identifier: MIT */
/* The answer of an HTTP server to a check, in one piece and cut at a point of the input's choice:
 * both must end alike, within the bounds of wire/http/http_reply.h.  The first two bytes say where
 * to cut, the third how much of the text "needle" is looked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/http/http_parse.h"
#include "wire/http/http_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* From a block of just that size. */
static int feed(struct http_reply *r, const char *in, size_t n, struct err *err)
{
    char *block = malloc(n ? n : 1);
    int failed;

    must(block != NULL);
    memcpy(block, in, n);
    failed = http_reply_read(r, block, n, err);
    free(block);
    return failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char needle[] = "needle";
    struct http_reply whole = { 0 }, parts = { 0 };
    const char *in = (const char *)data + 3;
    size_t n = size - 3, cut, of_needle;
    struct err err, other;
    int one, two;

    if (size < 3)
        return 0;
    cut = (size_t)(data[0] << 8 | data[1]) % (n + 1);
    of_needle = data[2] % sizeof(needle);
    whole.text = parts.text = of_needle ? needle + sizeof(needle) - 1 - of_needle : NULL;
    one = feed(&whole, in, n, &err);
    two = feed(&parts, in, cut, &other);
    if (!two)
        two = feed(&parts, in + cut, n - cut, &other);
    must(one == two);
    must(!one || !strcmp(err.text, other.text));
    must(whole.head_n <= HTTP_HEAD_MAX + 1 && whole.body_n <= HTTP_REPLY_BODY_MAX);
    if (one)
        return 0;
    must(whole.state == parts.state && whole.has_text == parts.has_text);
    must(http_reply_end(&whole, &err) == http_reply_end(&parts, &other));
    if (whole.state == REPLY_DONE)
        must(whole.status == parts.status && whole.status >= 101 && whole.status <= 599);
    if (whole.has_text)
        must(whole.text && memmem(in, n, whole.text, 1));
    return 0;
}
