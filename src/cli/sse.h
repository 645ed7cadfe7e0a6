/* SPDX-License-Identifier: MIT */
/* sse.h - server-sent events out of the bytes of an answer, however they are cut. */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { SSE_ID_SIZE = 64, SSE_EVENT_MAX = 1 << 20 };

/* `name` is "" for one without.  False ends the reading. */
typedef bool sse_event_fn(void *arg, const char *name, const char *data);

struct sse {
    sse_event_fn *fn;
    void *arg;
    char id[SSE_ID_SIZE]; /* of the last event, for Last-Event-ID; "": none */

    struct buf line, name, data;
    char next_id[SSE_ID_SIZE];
    bool has_data;
};

void sse_init(struct sse *s, sse_event_fn *fn, void *arg);
void sse_done(struct sse *s);

/* A new connection: what was not whole is forgotten, but for the id. */
void sse_again(struct sse *s);

/* False: the function said so, or an event is larger than SSE_EVENT_MAX. */
bool sse_read(struct sse *s, const char *bytes, size_t n);

#endif
