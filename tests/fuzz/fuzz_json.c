/* SPDX-License-Identifier: MIT */
/* Any bytes, read by us and by jansson: both must judge alike, but for what
 * tests/lib/json_oracle.h lists, and what we write again must mean the same.
 * The scan for credentials allocates nothing and accepts no text that is none. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "tests/lib/json_oracle.h"
#include "wire/json/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_scan(const char *text, size_t n)
{
    char a[16], b[4];
    struct json_want wants[] = { { "a", a, sizeof(a), false }, { "b", b, sizeof(b), false } };
    struct arena arena = { 0 };
    struct err err = { 0 };
    struct json j;

    if (json_scan(text, n, wants, 2, &err) == 0) {
        if (wants[0].found && utf8_valid(a, strlen(a)) != strlen(a))
            abort();
        json_init(&j, text, n, &arena, &err);
        if ((json_skip(&j) || json_finish(&j)) && !strstr(err.text, "stands twice"))
            abort();
        json_done(&j);
        arena_free(&arena);
    } else if (wants[0].found || wants[1].found) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *wrong = oracle_check((const char *)data, size);

    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    check_scan((const char *)data, size);
    return 0;
}
