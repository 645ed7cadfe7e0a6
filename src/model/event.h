/* SPDX-License-Identifier: MIT */
/* event.h - what happened on hosts, as /v1 shows it; and what each kind of event is called
 * for people. */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/code.h"
#include "wire/shape.h"

struct event_view {
    int64_t id;                /* counts up, over all hosts */
    int64_t time_ms, taken_ms; /* since 1970: by the host's clock, by the server's */
    const char *event, *text;
    const char *agent_id, *ip; /* "": of the server itself */
    int64_t cloud_id, biz_id;
    const char *space, *name, *proc_name; /* "": of the host itself */
};

struct event_page {
    struct list events; /* struct event_view */
    const char *next;   /* `after` of the next page; "": there is none */
    int64_t last;       /* the id of the newest event of all, to go on from */
};

/* Which events; "" is all. */
struct event_filter {
    const char *host, *space, *name, *event;
};

enum event_order { EVENT_NEWEST_FIRST, EVENT_OLDEST_FIRST };

struct event_ask { /* the query of GET /v1/events */
    struct event_filter filter;
    int64_t since_s, order, after, limit; /* after -1: from the beginning */
};

struct event_stream_ask { /* the query of GET /v1/events/stream */
    struct event_filter filter;
    int64_t after; /* -1: those from now on */
};

/* In a stream: those between the two are not told. */
struct event_missing {
    int64_t after, until;
};

/* What there is; whatever else an agent of another version may tell. */
struct event_kind {
    const char *name;
    bool is_trouble;
    const char *text[LANGS];
};

extern const struct event_kind event_kinds[]; /* ends with a NULL name */

const struct event_kind *event_kind_find(const char *name); /* NULL: not known */

extern const struct shape event_view_shape, event_page_shape, event_ask_shape,
    event_stream_ask_shape, event_missing_shape;

#endif
