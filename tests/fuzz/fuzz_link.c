/* SPDX-License-Identifier: MIT */
/* fuzz_link.c - any bytes, taken for messages of the link or of a local client
 * (local.h): what is accepted is written as a frame, read and written again to the same bytes; what
 * is refused is refused in one line of text.  A first byte of 0 is followed by frames, any other is
 * the type of the one message whose body follows. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "link/local.h"
#include "link/message.h"
#include "wire/net/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static const struct shape *shape_of(unsigned type)
{
    return type >= LOCAL_OPERATE ? local_shape(type) : message_shape(type);
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

/* What does not fit a frame any more (escapes take more room than what they stand for)
 * is not sent, and so can not be compared. */
static bool write_frame(unsigned type, const void *message, struct buf *to)
{
    struct err err = { 0 };
    size_t mark = frame_begin(to, (uint8_t)type, 0, 1);

    shape_write(shape_of(type), message, to);
    if (frame_end(to, mark, &err) == 0)
        return true;
    must(err.code == ERR_LIMIT, "a frame is refused for another reason than its size");
    return false;
}

static void check_written(unsigned type, const void *message)
{
    const struct shape *s = shape_of(type);
    struct arena a = { 0 };
    struct buf one = { 0 }, two = { 0 };
    void *again = arena_alloc(&a, s->size);
    struct err err = { 0 };
    struct frame f;
    size_t used;

    if (write_frame(type, message, &one)) {
        must(frame_read(buf_data(&one), one.len, &f, &used, &err) == FRAME_READY &&
                 used == one.len && f.type == type,
             "what was written is no frame");
        if (shape_read(s, f.body, f.body_n, SHAPE_STRICT, &a, again, &err)) {
            fprintf(stderr, "%s\n", err.text);
            must(false, "what was written is refused");
        }
        must(write_frame(type, again, &two) && one.len == two.len &&
                 !memcmp(buf_data(&one), buf_data(&two), one.len),
             "what was written is read as something else");
    }
    buf_free(&one);
    buf_free(&two);
    arena_free(&a);
}

static void check_message(unsigned type, const char *body, size_t n)
{
    const struct shape *s = shape_of(type);
    struct arena a = { 0 };
    struct err err = { 0 };
    void *message;

    must((message_shape(type) == NULL) == (message_name(type) == NULL),
         "a type has a name or a shape alone");
    if (!s)
        return;
    message = arena_alloc(&a, s->size);
    if (shape_read(s, body, n, 0, &a, message, &err))
        check_error(&err);
    else
        check_written(type, message);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct err err = { 0 };
    struct frame f;
    size_t used;

    if (size == 0)
        return 0;
    if (data[0] != 0) {
        check_message(data[0], bytes + 1, size - 1);
        return 0;
    }
    bytes++;
    size--;
    while (frame_read(bytes, size, &f, &used, &err) == FRAME_READY) {
        check_message(f.type, f.body, f.body_n);
        bytes += used;
        size -= used;
    }
    return 0;
}
