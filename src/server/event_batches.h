/* SPDX-License-Identifier: MIT */
/* event_batches.h - events on their way to the store.
 *
 * They wait in batches.  The first batch is at the store, or waits to be tried again; what
 * comes meanwhile goes into the last.  So one that comes alone is stored at once, and many
 * together in few transactions.  Nothing is given up: what can not be stored waits, and when
 * too much waits it says so; later for the server's own, which nobody would say again. */
#ifndef SERVER_EVENT_BATCHES_H
#define SERVER_EVENT_BATCHES_H

#include "base/loop.h"
#include "link/message.h"
#include "server/fleet.h"
#include "store/store_events.h"

enum { BATCHES_BYTES_MAX = 32 << 20, BATCHES_OWN_BYTES_MAX = 48 << 20 };

struct event_batches;

/* Rows have their seq when they are stored; they are in order, and good for the call. */
struct event_batches_owner {
    void (*on_stored)(void *arg, const struct event_row *rows, size_t n);
    void (*on_failed)(void *arg, const struct err *why); /* it is tried again */
};

struct event_batches *event_batches_new(struct loop *loop, struct store *store,
                                        const struct event_batches_owner *owner, void *arg);
void event_batches_free(struct event_batches *b); /* nothing is at the store; NULL is fine */

bool event_batches_is_full(const struct event_batches *b, bool is_own);
bool event_batches_is_empty(const struct event_batches *b);
size_t event_batches_waiting(const struct event_batches *b); /* events */
bool event_batches_is_storing(const struct event_batches *b);

/* Whether the event says that its agent is lost, or back: that is stored with it. */
enum event_presence { EVENT_SAYS_NOTHING, EVENT_SAYS_LOST, EVENT_SAYS_BACK };

/* All is copied.  Host NULL: the server itself. */
void event_batches_put(struct event_batches *b, const struct fleet_host *host,
                       const struct message_event *m, enum event_presence says);

#endif
