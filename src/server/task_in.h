/* SPDX-License-Identifier: MIT */
/* task_in.h - what the sources of tasks.h share.  Not for others.
 *
 * Beside task_rows.h and task_join.h:
 *   tasks.c         the asks, the agents, the hub's hands
 *   task_results.c  results on their way to the store
 *   task_claims.c   sessions: which of them the store knows an item to be claimed for
 *   task_load.c     what the store has: at start, and of tasks that are not in memory */
#ifndef SERVER_TASK_IN_H
#define SERVER_TASK_IN_H

#include <sys/queue.h>

#include "base/map.h"
#include "server/errands.h"
#include "server/hub.h"
#include "server/tasks.h"
#include "store/store_items.h"
#include "wire/digest.h"

struct live;
struct join_key;

/* An agent that has, had or will have a session here. */
struct peer {
    char *id;
    int64_t epoch; /* of its session; 0: none */
    int64_t last;  /* the highest that we ever had: what is claimed for it is ours */
    bool is_claiming;
    TAILQ_ENTRY(peer) link; /* of those to claim for, if is_claiming */
};

/* What an item is beside what the hub knows of it. */
struct live_item {
    struct live *task;
    int64_t n, spec_n;
    int64_t claimed; /* the epoch it is claimed for in the store; 0: it is not */
    int64_t done_ms;
    const struct message_result *result; /* on its way; the hub's */
    struct join_key *key;
    TAILQ_ENTRY(live_item) link; /* of the results that wait */
};
TAILQ_HEAD(live_items, live_item);

struct waiter {
    task_accepted_fn *fn;
    void *arg;
    struct waiter *next;
};

/* A task in memory. */
struct live {
    struct tasks *tasks;
    struct arena arena;
    const char *id, *app, *user;
    int64_t task_no; /* 0: not stored yet */
    int64_t form, created_ms, deadline_ms;
    size_t n, left;
    struct live_item *items;
    struct list *labels; /* by spec_n */
    struct waiter *waiters;
    struct err *failure; /* it could not even be submitted */
    struct timer tell, forget;
    char digest[DIGEST_TEXT_SIZE];
    bool is_ended;
    bool is_overtaken; /* by another operation on one of its processes */
};

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
    struct map by_digest, keys; /* task_join.h */
    struct outbox results, claims;
    struct live_items waiting, parked; /* parked: until a claim, or time, helps */
    struct timer unpark;
    TAILQ_HEAD(, peer) claiming;
    struct store_call *creating; /* while the hub is asked to operate */
    struct timer wake, prune;
    int64_t counter, n_open;
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

/* task_load.c */
void task_read_old(struct tasks *t, const char *id, task_read_fn *fn, void *arg);
void task_prune(void *tasks);

#endif
