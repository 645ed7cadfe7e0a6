/* SPDX-License-Identifier: MIT */
/* task_in.h - private state of the tasks, shared by their sources.
 *
 * Besides task_rows.h, task_join.h and active_task.h:
 *
 *   tasks.c         requests, agents, effects of the hub
 *   task_results.c  storing results
 *   task_claims.c   claiming items in the store for a session
 *   task_cancel.c   cancelling tasks
 *   task_load.c     loading unfinished tasks at start, and removing old ones
 *   task_read.c     reading a task */
#ifndef SERVER_DISPATCH_TASK_IN_H
#define SERVER_DISPATCH_TASK_IN_H

#include "server/dispatch/active_task.h"
#include "server/dispatch/hub.h"
#include "server/dispatch/task_counts.h"
#include "server/fleet/pending_calls.h"

/* Data that goes to the store in batches, one batch at a time. */
struct outbox {
    struct timer flush;
    bool is_out;
    int64_t wait_ms; /* delay after a failure; 0: the last call succeeded */
};

struct tasks {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct fleet *fleet;
    const struct tasks_effects *effects;
    void *arg;
    struct pending_calls *pending_calls;
    struct hub *hub;
    struct map by_id, by_no, peers;
    struct map by_digest, keys, coming; /* see task_join.h */
    struct outbox results, claims;
    TAILQ_HEAD(, active_task) waiting; /* tasks with results to be stored; they take turns */
    struct active_items parked;        /* results that wait for a claim, or for `unpark` */
    struct timer unpark;
    TAILQ_HEAD(, peer) claiming;
    struct store_call *creating;    /* set while hub_operate() runs */
    struct active_task *cancelling; /* set while hub_cancel() runs */
    struct timer wake, prune, forget;
    int64_t counter, n_open;
    struct task_counts counts;
    TAILQ_HEAD(, active_task) ended; /* oldest first */
    size_t n_items, n_items_ended;   /* items in memory; those of ended tasks */
    size_t open_max, ended_max;      /* most items in memory: of unfinished tasks; of ended tasks */
    int64_t days;                    /* how long ended tasks stay in the store, */
    const struct retention *retention; /* by this time */
};

/* tasks.c */
struct active_task *active_task_new(struct tasks *t, const struct task_row *row, size_t n);
void active_item_stored(struct active_item *item, const struct message_result *other);
struct peer *tasks_peer(struct tasks *t, const char *agent);
void tasks_wake(struct tasks *t);
int64_t tasks_wall_ms(const struct tasks *t);

/* After a failure an outbox retries with back-off. */
void outbox_soon(struct tasks *t, struct outbox *box);
void outbox_failed(struct tasks *t, struct outbox *box, const struct err *err);

/* task_results.c */
void results_put(struct active_item *item, const struct message_result *result);
void results_flush(void *tasks);
void results_unpark(void *tasks);

/* task_claims.c */
void claims_put(struct tasks *t, struct peer *p);
void claims_flush(void *tasks);
void claims_forget(struct tasks *t); /* removes agents that the hub does not know */

/* task_cancel.c */
void cancel_item_ends(struct active_item *item);   /* the hub ended it */
void cancel_item_stored(struct active_item *item); /* its result is stored */

/* task_load.c */
void task_prune(void *tasks);

#endif
