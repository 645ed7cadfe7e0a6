/* SPDX-License-Identifier: MIT */
/* Any bytes, read as a message: what is accepted is written, read and written
 * again to the same bytes, and the scan for credentials sees the same texts; what
 * is refused is refused in one line of text.  The first byte of the input chooses
 * the shape and the flags. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/utf8.h"
#include "model/job.h"
#include "model/proc.h"
#include "tests/lib/every_type.h"
#include "wire/json/json_scan.h"

enum { WANTS_MAX = 8, TEXT_MAX = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check_error(const struct err *err)
{
    size_t n = strlen(err->text);

    must((err->code == ERR_INVALID || err->code == ERR_MALFORMED || err->code == ERR_LIMIT) &&
             n > 0,
         "no error is set");
    must(utf8_valid(err->text, n) == n, "an error that is not UTF-8");
    for (size_t i = 0; i < n; i++)
        must((unsigned char)err->text[i] >= 32 && err->text[i] != 127, "an error of two lines");
}

static void check_written(const struct shape *s, const void *value)
{
    struct arena a = { 0 };
    struct buf one = { 0 }, two = { 0 };
    void *again = arena_alloc(&a, s->size);
    struct err err;

    shape_write(s, value, &one);
    if (shape_read(s, buf_data(&one), one.len, SHAPE_STRICT, &a, again, &err)) {
        fprintf(stderr, "%s\n", err.text);
        must(false, "what was written is refused");
    }
    shape_write(s, again, &two);
    must(one.len == two.len && !memcmp(buf_data(&one), buf_data(&two), one.len),
         "what was written is read as something else");
    buf_free(&one);
    buf_free(&two);
    arena_free(&a);
}

/* Of texts that have one name only: a scan does not know of others. */
static void check_scan(const struct shape *s, const char *text, size_t n, bool accepted,
                       const char *value)
{
    static char to[WANTS_MAX][TEXT_MAX];
    struct json_want wants[WANTS_MAX];
    const struct field *fields[WANTS_MAX];
    size_t n_wants = 0;
    struct err err;

    for (const struct field *f = s->fields; f->name && n_wants < WANTS_MAX; f++) {
        if (f->type != FIELD_STR || f->also || f->max >= TEXT_MAX)
            continue;
        fields[n_wants] = f;
        wants[n_wants] = (struct json_want){ f->name, to[n_wants], (size_t)f->max + 1, false };
        n_wants++;
    }
    if (json_scan(text, n, wants, n_wants, &err)) {
        must(!accepted, "the scan refuses what is accepted");
        return;
    }
    for (size_t i = 0; i < n_wants && accepted; i++) {
        const struct field *f = fields[i];
        const char *fallback = f->fallback_text ? f->fallback_text : "";
        const char *seen = *(const char *const *)(const void *)(value + f->offset);

        must(!strcmp(seen, wants[i].found ? wants[i].to : fallback), "the scan sees another text");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct shape *const shapes[] = { &every_shape, &proc_operate_batch_shape,
                                                  &job_operate_shape, &every_shape };
    const struct shape *s;
    const char *text = (const char *)data + 1;
    struct arena a = { 0 };
    struct err err = { 0 };
    unsigned flags;
    bool accepted;
    char *value;

    if (size == 0)
        return 0;
    s = shapes[data[0] >> 3 & 3];
    flags = data[0] & (SHAPE_STRICT | SHAPE_TEXT | SHAPE_OVERLAY);
    value = arena_alloc(&a, s->size);
    shape_defaults(s, value);
    accepted = !shape_read(s, text, size - 1, flags, &a, value, &err);
    if (!accepted)
        check_error(&err);
    else if (!(flags & SHAPE_OVERLAY) || s == &every_shape) /* others require something */
        check_written(s, value);
    check_scan(s, text, size - 1, accepted, value);
    arena_free(&a);
    return 0;
}
