/* SPDX-License-Identifier: MIT */
/* event_bound.h - limit of process_restart_success lines in the event file, per process.
 *
 * BlueKing's monitoring raises one alarm per line (data id 1100008).  For a process that crashes
 * repeatedly the first EVENT_BOUND_LINES within EVENT_BOUND_MS get a line each, then one line a
 * minute with the number of events since the previous line.  The store has all of them.  Time is
 * the server's clock. */
#ifndef SERVER_EVENTS_EVENT_BOUND_H
#define SERVER_EVENTS_EVENT_BOUND_H

#include "store/store_events.h"

enum { EVENT_BOUND_LINES = 10, EVENT_BOUND_MS = 10 * 60 * 1000, EVENT_BOUND_APART_MS = 60 * 1000 };

struct event_bound;

struct event_bound *event_bound_new(void);
void event_bound_free(struct event_bound *b); /* NULL is fine */

/* The number of events that a line for this one represents; 0: it gets no line, 1: only itself. */
int64_t event_bound_look(const struct event_bound *b, const struct event_row *row);

/* Call after the line of the event was written, or if it has none. */
void event_bound_note(struct event_bound *b, const struct event_row *row);

#endif
