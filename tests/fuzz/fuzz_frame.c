/* SPDX-License-Identifier: MIT */
/* fuzz_frame.c - any bytes: frames are found where they are, each one written
 * again is the same bytes, and any shorter piece only asks for more. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/net/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const char *bytes, const struct frame *f, size_t used)
{
    struct buf again = { 0 };
    struct err err = { 0 };
    struct frame part;
    size_t mark = frame_begin(&again, f->type, f->flags, f->seq), part_used;

    buf_add(&again, f->body, f->body_n);
    if (frame_end(&again, mark, &err) || again.len != used ||
        memcmp(buf_data(&again), bytes, used) != 0)
        abort();
    for (size_t n = 0; n < used; n += 1 + used / 16) {
        if (frame_read(bytes, n, &part, &part_used, &err) != FRAME_MORE)
            abort();
    }
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct err err = { 0 };
    struct frame f;
    size_t used;

    while (frame_read(bytes, size, &f, &used, &err) == FRAME_READY) {
        if (used > size || f.body + f.body_n != bytes + used)
            abort();
        check_frame(bytes, &f, used);
        bytes += used;
        size -= used;
    }
    return 0;
}
