/* SPDX-License-Identifier: MIT */
/* task_in.h - what the sources of tasks.h share.  Not for others.
 *
 * Beside task_rows.h, task_join.h and task_live.h:
 *   tasks.c         the asks, the agents, the hub's hands
 *   task_results.c  results on their way to the store
 *   task_claims.c   sessions: which of them the store knows an item to be claimed for
 *   task_cancel.c   tasks that somebody wants no more
 *   task_load.c     what the store has at start, and what it need not have any more
 *   task_read.c     what is shown of a task */
#ifndef SERVER_TASK_IN_H
#define SERVER_TASK_IN_H

#include "server/errands.h"
#include "server/hub.h"
#include "server/task_counts.h"
#include "server/task_live.h"

/* Something that goes to the store in batches, one at a time. */
struct outbox {
    struct timer flush;
    bool is_out;
    int64_t wait_ms; /* after a failure; 0: there was none */
};

struct tasks {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct fleet *fleet;
    const struct tasks_hands *hands;
    void *arg;
    struct errands *errands;
    struct hub *hub;
    struct map by_id, by_no, peers;
    struct map by_digest, keys, coming; /* task_join.h */
    struct outbox results, claims;
    TAILQ_HEAD(, live) waiting; /* with results to be stored: they take turns */
    struct live_items parked;   /* until a claim, or time, helps */
    struct timer unpark;
    TAILQ_HEAD(, peer) claiming;
    struct store_call *creating; /* while the hub is asked to operate, */
    struct live *cancelling;     /* and to cancel */
    struct timer wake, prune, forget;
    int64_t counter, n_open;
    struct task_counts counts;
    TAILQ_HEAD(, live) ended;          /* the oldest first */
    size_t n_items, n_items_ended;     /* in memory; of those that have ended */
    size_t open_max, ended_max;        /* items in memory of tasks that have not ended; that have */
    int64_t days;                      /* that they are kept in the store, */
    const struct retention *retention; /* by this time */
};

/* tasks.c */
struct live *live_new(struct tasks *t, const struct task_row *row, size_t n);
void live_item_stored(struct live_item *item, const struct message_result *other);
struct peer *tasks_peer(struct tasks *t, const char *agent);
void tasks_wake(struct tasks *t);
int64_t tasks_wall_ms(const struct tasks *t);

/* An outbox that failed waits longer and longer. */
void outbox_soon(struct tasks *t, struct outbox *box);
void outbox_failed(struct tasks *t, struct outbox *box, const struct err *err);

/* task_results.c */
void results_put(struct live_item *item, const struct message_result *result);
void results_flush(void *tasks);
void results_unpark(void *tasks);

/* task_claims.c */
void claims_put(struct tasks *t, struct peer *p);
void claims_flush(void *tasks);
void claims_forget(struct tasks *t); /* agents that the hub does not know any more */

/* task_cancel.c */
void cancel_item_ends(struct live_item *item);   /* the hub has ended it */
void cancel_item_stored(struct live_item *item); /* that is stored */

/* task_load.c */
void task_prune(void *tasks);

#endif
