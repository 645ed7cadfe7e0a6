/* SPDX-License-Identifier: MIT */
/* store_events.h - events in the order in which the server stored them: verbs of store.h.
 *
 * Every event has a number, its seq, which rises by one and is never used again, even after the
 * oldest events were deleted.  So a seq is a position to continue from, for a page and for a reader
 * of the whole stream. */
#ifndef STORE_STORE_EVENTS_H
#define STORE_STORE_EVENTS_H

#include "store/store.h"

struct event_row {
    int64_t seq;               /* in store_event_put: index in the list, from 0 */
    int64_t taken_ms, wall_ms; /* stored, by the server's clock; happened, by the host's */
    const char *agent_id;      /* "": an event of the server itself */
    int64_t agent_event;       /* the agent's own number of it; 0: none */
    int64_t cloud_id;
    const char *ip;
    int64_t biz_id;
    const char *name, *message, *space, *proc, *proc_name;
    int64_t report_id;
};

/* Agents that were reported as lost and have not come back. */
struct lost_row {
    const char *agent_id;
    int64_t since_ms;
};

struct event_put_ask {
    struct list rows; /* struct event_row */
    struct list lost; /* struct lost_row; now lost */
    struct list back; /* struct lost_row; now back */
};

struct event_put_got {
    int64_t first; /* seq of the first row; the others follow it */
};

extern const struct store_verb store_event_put; /* event_put_ask; event_put_got */

/* Events with above < seq < below that match; a text of "" matches all. */
struct event_page_ask {
    bool is_newest_first;
    int64_t above, below;
    int64_t since_ms; /* only events stored then or later */
    const char *agent_id, *space, *proc, *name;
    int64_t limit;
};

/* One call examines a bounded number of rows, so it may return fewer than `limit`, or none,
 * although more follow. */
struct event_page_got {
    struct list rows;     /* struct event_row */
    int64_t reached;      /* `below` or `above` of the next page */
    bool is_end;          /* there is no next page */
    int64_t oldest, last; /* seqs of the existing events; without any, oldest is last + 1 */
};

extern const struct store_verb store_event_page; /* event_page_ask; event_page_got */

/* Position of a reader that reads all events, the event file say. */
struct event_mark_row {
    const char *reader;
    int64_t seq; /* -1: no such reader */
};

extern const struct store_verb store_event_mark; /* event_mark_row; nothing */

struct event_load_ask {
    const char *reader;
};

struct event_load_got {
    int64_t last, mark; /* mark -1: none */
    struct list lost;   /* struct lost_row */
};

extern const struct store_verb store_event_load; /* event_load_ask; event_load_got */

/* The agents' own numbers of their last stored events. */
struct event_last_row {
    const char *agent_id;
    int64_t agent_event;
};

struct event_last_ask {
    struct list agents; /* struct event_last_row, of which only agent_id is used */
};

extern const struct store_verb store_event_last; /* event_last_ask; list of event_last_row */

/* Deletes at most `limit` of the oldest events: those before a time, or above rows_max. */
struct event_prune_ask {
    int64_t limit, before_ms, rows_max;
};

struct event_prune_got {
    int64_t gone;
};

extern const struct store_verb store_event_prune; /* event_prune_ask; event_prune_got */

#endif
