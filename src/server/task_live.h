/* SPDX-License-Identifier: MIT */
/* task_live.h - a task in memory: what it is beside what the hub knows of it.  Not for others
 * than the sources of tasks.h. */
#ifndef SERVER_TASK_LIVE_H
#define SERVER_TASK_LIVE_H

#include <sys/queue.h>

#include "base/map.h"
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
    bool is_cancelling;                  /* and that is because it was cancelled */
    struct join_key *key;
    TAILQ_ENTRY(live_item) link; /* of the results that wait */
};
TAILQ_HEAD(live_items, live_item);

struct waiter {
    task_accepted_fn *fn;
    void *arg;
    struct waiter *next;
};

struct cancel_waiter {
    task_cancelled_fn *fn;
    void *arg;
    struct cancel_waiter *next;
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
    struct list *labels;       /* by spec_n */
    struct live_items waiting; /* results to be stored; if there are any, it is */
    TAILQ_ENTRY(live) waits;   /* among the tasks that have such */
    struct waiter *waiters;
    struct err *failure; /* it could not even be submitted */
    struct timer tell;
    int64_t ended_ms;        /* if is_ended; on the loop's clock */
    TAILQ_ENTRY(live) ended; /* likewise: of those that have */
    char digest[DIGEST_TEXT_SIZE];
    bool is_ended;
    bool is_overtaken; /* by another operation on one of its processes, or cancelled */
    bool idempotent;
    int64_t cancelled_ms;          /* 0: it is not */
    bool is_cancel_out;            /* the store is told so */
    size_t n_cancelling;           /* items that have ended by it and are not stored */
    struct cancel_waiter *cancels; /* who waits for all of that */
};

#endif
