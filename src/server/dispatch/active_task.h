/* SPDX-License-Identifier: MIT */
/* active_task.h - a task in memory, with the data that the hub does not have.  Private to the
 * sources of tasks.h. */
#ifndef SERVER_DISPATCH_ACTIVE_TASK_H
#define SERVER_DISPATCH_ACTIVE_TASK_H

#include <sys/queue.h>

#include "base/mem/map.h"
#include "server/dispatch/tasks.h"
#include "store/store_items.h"
#include "wire/tls/digest.h"

struct active_task;
struct join_key;

/* An agent that has, had or will have a session with this server. */
struct peer {
    char *id;
    int64_t epoch; /* of its session; 0: none */
    int64_t last;  /* the highest epoch it ever had here: items claimed for it are ours */
    bool is_claiming;
    TAILQ_ENTRY(peer) link; /* in tasks.claiming, if is_claiming */
};

/* The data of an item that the hub does not have. */
struct active_item {
    struct active_task *task;
    int64_t n, spec_n;
    int64_t claimed; /* the epoch it is claimed for in the store; 0: not claimed */
    int64_t done_ms;
    const struct message_result *result; /* on its way to the store; owned by the hub */
    bool is_cancelling;                  /* the result exists because the task was cancelled */
    struct join_key *key;
    TAILQ_ENTRY(active_item) link; /* in a list of results that wait for the store */
};
TAILQ_HEAD(active_items, active_item);

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
struct active_task {
    struct tasks *tasks;
    struct arena arena;
    const char *id, *app, *user;
    int64_t task_no; /* 0: not stored yet */
    int64_t form, created_ms, deadline_ms;
    int64_t spec_seq; /* from fleet_draw_seq(), when the request came */
    size_t n, left;
    struct active_item *items;
    struct list *labels;            /* by spec_n */
    struct active_items waiting;    /* results to be stored */
    TAILQ_ENTRY(active_task) waits; /* in tasks.waiting, while `waiting` is not empty */
    struct waiter *waiters;
    struct err *failure; /* submitting it failed */
    struct timer tell;
    int64_t ended_ms;               /* if is_ended; on the loop's clock */
    TAILQ_ENTRY(active_task) ended; /* in tasks.ended, if is_ended */
    char digest[DIGEST_TEXT_SIZE];
    bool is_ended;
    bool is_overtaken; /* a later task has one of its processes, or it was cancelled */
    bool idempotent;
    int64_t cancelled_ms; /* 0: not cancelled */
    bool is_cancel_out;   /* the cancellation is being stored */
    size_t n_cancelling;  /* items that the cancellation ended and that are not stored yet */
    struct cancel_waiter *cancels; /* called when all of that is stored */
};

#endif
