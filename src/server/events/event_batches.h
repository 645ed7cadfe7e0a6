/* SPDX-License-Identifier: MIT */
/* event_batches.h - events on their way to the store.
 *
 * Events wait in batches.  The first batch is at the store or waits for a retry; new events go
 * into the last.  So a single event is stored at once, and many together in few transactions.
 * Nothing is dropped here: what cannot be stored waits.  When too much waits, new events of
 * agents are refused (agents repeat them); the server's own events, which nothing would repeat,
 * are refused later. */
#ifndef SERVER_EVENTS_EVENT_BATCHES_H
#define SERVER_EVENTS_EVENT_BATCHES_H

#include "base/io/loop.h"
#include "link/message.h"
#include "server/fleet/fleet.h"
#include "store/store_events.h"

enum { BATCHES_BYTES_MAX = 32 << 20, BATCHES_OWN_BYTES_MAX = 48 << 20 };

struct event_batches;

/* Rows have their seq once they are stored.  They are in order and valid during the call. */
struct event_batches_owner {
    void (*on_stored)(void *arg, const struct event_row *rows, size_t n);
    void (*on_failed)(void *arg, const struct err *why); /* it is retried */
};

struct event_batches *event_batches_new(struct loop *loop, struct store *store,
                                        const struct event_batches_owner *owner, void *arg);
void event_batches_free(struct event_batches *b); /* no call may be at the store; NULL is allowed */

bool event_batches_is_full(const struct event_batches *b, bool is_own);
bool event_batches_is_empty(const struct event_batches *b);
size_t event_batches_waiting(const struct event_batches *b); /* events */
bool event_batches_is_storing(const struct event_batches *b);

/* Whether the event means that its agent is lost or back: stored in the same transaction. */
enum event_presence { EVENT_SAYS_NOTHING, EVENT_SAYS_LOST, EVENT_SAYS_BACK };

/* Everything is copied.  Host NULL: an event of the server itself. */
void event_batches_put(struct event_batches *b, const struct fleet_host *host,
                       const struct message_event *m, enum event_presence says);

#endif
