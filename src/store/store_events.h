/* SPDX-License-Identifier: MIT */
/* store_events.h - what happened on hosts, in the order the server took it: verbs of
 * store.h.
 *
 * Every event has a number, its seq, which counts up by one and never comes again, though
 * the oldest are forgotten.  So a seq is a place to go on from, for a page and for whoever
 * reads on and on. */
#ifndef STORE_STORE_EVENTS_H
#define STORE_STORE_EVENTS_H

#include "store/store.h"

struct event_row {
    int64_t seq;               /* of those that are put: their place among them, from 0 */
    int64_t taken_ms, wall_ms; /* when the server had it; when it happened, by the host's clock */
    const char *agent_id;      /* "": the server itself */
    int64_t agent_event;       /* the agent's own number of it; 0: it has none */
    int64_t cloud_id;
    const char *ip;
    int64_t biz_id;
    const char *name, *message, *space, *proc, *proc_name;
    int64_t report_id;
};

/* Agents that were said to be lost, and are not back. */
struct lost_row {
    const char *agent_id;
    int64_t since_ms;
};

struct event_put_ask {
    struct list rows; /* struct event_row */
    struct list lost; /* struct lost_row: from now on */
    struct list back; /* struct lost_row: no more */
};

struct event_put_got {
    int64_t first; /* the seq of the first row; the others follow it */
};

extern const struct store_verb store_event_put; /* event_put_ask; event_put_got */

/* Those with above < seq < below that fit: a text of "" fits all. */
struct event_page_ask {
    bool is_newest_first;
    int64_t above, below;
    int64_t since_ms; /* those that were taken from then on */
    const char *agent_id, *space, *proc, *name;
    int64_t limit;
};

/* One call looks at a bounded number of rows, so there may be fewer than `limit`, or none,
 * and yet more behind them. */
struct event_page_got {
    struct list rows;     /* struct event_row */
    int64_t reached;      /* the next page goes on there, as `below` or `above` */
    bool is_end;          /* there is no next page */
    int64_t oldest, last; /* seqs of what there is; none at all: oldest is last + 1 */
};

extern const struct store_verb store_event_page; /* event_page_ask; event_page_got */

/* How far somebody has read who reads all of them, a file say. */
struct event_mark_row {
    const char *reader;
    int64_t seq; /* -1: there is no such reader */
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

/* The number that each of these agents gave its last event that is here. */
struct event_last_row {
    const char *agent_id;
    int64_t agent_event;
};

struct event_last_ask {
    struct list agents; /* struct event_last_row, of which the id counts */
};

extern const struct store_verb store_event_last; /* event_last_ask; list of event_last_row */

/* Forgets some of the oldest, at most `limit`: those before a time, or more than so many. */
struct event_prune_ask {
    int64_t limit, before_ms, rows_max;
};

struct event_prune_got {
    int64_t gone;
};

extern const struct store_verb store_event_prune; /* event_prune_ask; event_prune_got */

#endif
