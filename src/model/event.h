/* SPDX-License-Identifier: MIT */
/* event.h - events on hosts as /v1 shows them, and the kinds of events. */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/code.h"
#include "wire/json/shape.h"

struct event_view {
    int64_t id;                /* rises over all hosts */
    int64_t time_ms, taken_ms; /* since 1970, by the host's and by the server's clock */
    const char *event, *text;
    const char *agent_id, *ip; /* "": an event of the server itself */
    int64_t cloud_id, biz_id;
    const char *space, *name, *proc_name; /* "": an event of the host itself */
};

struct event_page {
    struct list events; /* struct event_view */
    const char *next;   /* `after` of the next page; "": this is the last */
    int64_t last;       /* id of the newest event of all, to continue from */
};

/* Which events; "" matches all. */
struct event_filter {
    const char *host, *space, *name, *event;
};

enum event_order { EVENT_NEWEST_FIRST, EVENT_OLDEST_FIRST };

struct event_ask { /* the query of GET /v1/events */
    struct event_filter filter;
    int64_t since_s, order, after, limit; /* after -1: from the start */
};

struct event_stream_ask { /* the query of GET /v1/events/stream */
    struct event_filter filter;
    int64_t after; /* -1: only new events */
};

/* In a stream: the events between the two ids are not sent. */
struct event_missing {
    int64_t after, until;
};

/* The known kinds.  An event of any other kind, from an agent of another version say, is stored as
 * EVENT_UNKNOWN_KIND, because an agent must not choose names. */
struct event_kind {
    const char *name;
    bool is_trouble;
    const char *text[LANGS];
    bool is_servers; /* only the server makes it; refused from an agent */
};

#define EVENT_UNKNOWN_KIND "agent_unknown_event"

extern const struct event_kind event_kinds[]; /* ends with a NULL name */

const struct event_kind *event_kind_find(const char *name); /* NULL: unknown */

extern const struct shape event_view_shape, event_page_shape, event_ask_shape,
    event_stream_ask_shape, event_missing_shape;

#endif
