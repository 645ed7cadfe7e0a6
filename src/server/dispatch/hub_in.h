/* SPDX-License-Identifier: MIT */
/* hub_in.h - private state of the hub, shared by its sources.
 *
 *   hub.c        tasks, agents, events
 *   hub_items.c  one item: sending it, and its end
 *   hub_sched.h  which item is sent next
 *   hub_copy.c   copies of items in a task's memory */
#ifndef SERVER_DISPATCH_HUB_IN_H
#define SERVER_DISPATCH_HUB_IN_H

#include <sys/queue.h>

#include "base/io/timers.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "server/dispatch/hub.h"

/* The delay before a held back item is tried again. */
enum { HELD_MS = 100 };

enum item_state {
    ITEM_QUEUED,  /* never sent: its agent is not connected, or it waits for its turn */
    ITEM_SENT,    /* sent, and not known to be in the agent's journal */
    ITEM_TAKEN,   /* in the agent's journal */
    ITEM_STORING, /* its result is being stored */
    ITEM_ENDED,
};

struct agent;
struct task;
struct app;
struct sched_queue;
struct share;

struct item {
    struct hub_item *pub; /* the public state */
    struct task *task;
    int64_t n;
    struct agent *agent; /* NULL: no such host */
    enum item_state state;
    bool is_twin;       /* another item of the task runs for this one: it is never sent, */
    struct item *twins; /* and ends with the other, whose list of twins begins here */
    struct message_result result; /* ITEM_STORING: the result that is being stored */
    struct timer resend, deadline;
    TAILQ_ENTRY(item) link;          /* in the agent's open items */
    struct sched_queue *sched_queue; /* where it waits for its turn; NULL: it does not wait */
    TAILQ_ENTRY(item) in_queue;
    struct item *before, *behind; /* then: ring of all that wait for the same process */
    bool is_sent, is_unanswered;  /* in this session; neither acknowledged nor answered */
};

struct task {
    struct hub *hub;
    struct arena arena;
    char *id;
    struct item *items;
    struct hub_item *shown; /* returned by hub_find() */
    size_t n, open;
    bool is_stored;
    bool is_cancelled; /* agents are sent cancels instead of commands */
    bool is_native, is_idempotent;
    int64_t may_host; /* enum app_may_host */
    struct app *app;
    uint64_t seq;                    /* grows with each task */
    TAILQ_HEAD(, sched_queue) ready; /* queues that may be sent from */
    TAILQ_ENTRY(task) ready_link;    /* in app.ready, while `ready` is not empty */
};

struct agent {
    struct hub *hub;
    char *id;
    int64_t epoch; /* of the open session; 0: none */
    struct timer offline;
    bool is_offline; /* for longer than HUB_OFFLINE_MS */
    TAILQ_HEAD(, item) open;
    TAILQ_HEAD(sched_queues, sched_queue) sched_queues;
    size_t n_sent, unanswered; /* items on the way in this session; without an answer */
    struct share *shares;      /* counts of n_sent by app */
    bool is_silent, is_full;   /* is_full: too much waits to be sent to it */
    int64_t heard_ms;
    struct timer silence, full;
};

struct hub {
    const struct hub_effects *effects;
    void *arg;
    int64_t now_ms, started_ms;
    struct timers timers;
    struct map tasks, agents, apps;
    struct map waiting; /* the first item that waits for a process, by the key of hub_copy.h */
    struct hub_limits limits;
    TAILQ_HEAD(, app) ready;
    size_t unanswered, slice; /* slice: items that may still be sent in this loop iteration, */
    int64_t slice_ms;         /* which began at this time */
    uint64_t last_seq;
};

/* hub_items.c */
void item_init(struct item *item);
void item_stop(struct item *item);            /* its timers, and its place in the agent's list */
bool item_is_open(const struct item *item);   /* stored, and without a result */
bool item_is_listed(const struct item *item); /* in the agent's list of open items */

/* Called when it is stored: starts its deadline, and sends or ends it. */
void item_dispatch(struct item *item);
bool item_send(struct item *item);   /* false: held back */
void item_cancel(struct item *item); /* its task is cancelled */

const char *item_why_offline(const struct item *item); /* NULL: not offline */
void item_end(struct item *item, const struct message_result *result);
void item_end_by_us(struct item *item, int code, const char *text);
void item_end_twins(struct item *item); /* with the result of this item */

/* Ends it before its task is stored. */
void item_end_unstored(struct item *item, int code, const char *text);
/* Ends it after its result is stored; `other`: an earlier result was in the store. */
void item_end_stored(struct item *item, const struct message_result *other);

#endif
