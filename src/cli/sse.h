/* SPDX-License-Identifier: MIT */
/* sse.h - parses server-sent events from the bytes of an answer, however they are split. */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem/buf.h"

enum { SSE_ID_SIZE = 64, SSE_EVENT_MAX = 1 << 20 };

/* `name` is "" for an event without one.  Returns false to stop. */
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

/* For a new connection: forgets an incomplete event, but not the id. */
void sse_again(struct sse *s);

/* False: the function returned false, or an event is larger than SSE_EVENT_MAX. */
bool sse_read(struct sse *s, const char *bytes, size_t n);

#endif
