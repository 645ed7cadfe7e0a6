/* SPDX-License-Identifier: MIT */
/* hub_in.h - what the sources of hub.h share.  Not for others.
 *
 *   hub.c        tasks, agents, what is told to the hub
 *   hub_items.c  one item: on its way to the agent, and its end
 *   hub_turns.h  whose item is sent next
 *   hub_copy.c   items copied into a task's memory */
#ifndef SERVER_HUB_IN_H
#define SERVER_HUB_IN_H

#include <sys/queue.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/timers.h"
#include "server/hub.h"

/* What was not sent, as too much waits for the agent, is tried again then. */
enum { HELD_MS = 100 };

enum item_state {
    ITEM_QUEUED,  /* for an agent that is not here, or not yet: it was never sent */
    ITEM_SENT,    /* and not known to be in its journal */
    ITEM_TAKEN,   /* in its journal */
    ITEM_STORING, /* its result is on the way to the store */
    ITEM_ENDED,
};

struct agent;
struct task;
struct app;
struct lane;
struct share;

struct item {
    struct hub_item *pub; /* as it is shown */
    struct task *task;
    int64_t n;
    struct agent *agent; /* NULL: no such host */
    enum item_state state;
    bool is_twin;       /* another item of the task runs for this one: it is never sent, */
    struct item *twins; /* and ends with that one, whose twins begin here */
    struct message_result result; /* ITEM_STORING: what is being stored */
    struct timer resend, deadline;
    TAILQ_ENTRY(item) link; /* of the agent's open items */
    struct lane *lane;      /* it waits for its turn; and its place there */
    TAILQ_ENTRY(item) in_lane;
    struct item *before, *behind; /* then: a ring of all that wait for the same process */
    bool is_sent, is_unanswered;  /* in this session; and nothing is heard of it */
};

struct task {
    struct hub *hub;
    struct arena arena;
    char *id;
    struct item *items;
    struct hub_item *shown; /* hub_find() gives these */
    size_t n, open;
    bool is_stored;
    bool is_cancelled; /* its agents are told so, in place of what to do */
    struct app *app;
    uint64_t seq;                 /* later ones have higher ones */
    TAILQ_HEAD(, lane) ready;     /* what may be sent; if there is any, the task is */
    TAILQ_ENTRY(task) ready_link; /* among its app's ready ones */
};

struct agent {
    struct hub *hub;
    char *id;
    int64_t epoch; /* of the session that is open; 0: none */
    struct timer away;
    bool is_away; /* for long enough */
    TAILQ_HEAD(, item) open;
    TAILQ_HEAD(lanes, lane) lanes;
    size_t n_sent, unanswered; /* items on the way, in this session */
    struct share *shares;      /* of apps in those */
    bool is_silent, is_full;   /* full: too much waits to be sent to it */
    int64_t heard_ms;
    struct timer silence, full;
};

struct hub {
    const struct hub_hands *hands;
    void *arg;
    int64_t now_ms, started_ms;
    struct timers timers;
    struct map tasks, agents, apps;
    struct map waiting; /* the first item that waits for a process, by hub_copy.h's key */
    struct hub_limits limits;
    TAILQ_HEAD(, app) ready;
    size_t unanswered, slice; /* slice: what may still be sent in this turn of the loop, */
    int64_t slice_ms;         /* which began then */
    uint64_t last_seq;
};

/* hub_items.c */
void item_init(struct item *item);
void item_stop(struct item *item);            /* its timers, and its place in the agent's list */
bool item_is_open(const struct item *item);   /* stored, and without a result */
bool item_is_listed(const struct item *item); /* among the open ones of its agent */

/* From the moment it is stored: its deadline counts, and it is sent or ended. */
void item_dispatch(struct item *item);
bool item_send(struct item *item);   /* false: it is held back */
void item_cancel(struct item *item); /* its task is cancelled */

const char *item_why_offline(const struct item *item); /* NULL: somebody may do it */
void item_end(struct item *item, const struct message_result *result);
void item_end_by_us(struct item *item, int code, const char *text);
void item_end_twins(struct item *item); /* with the result it has */

/* It ends before its task is stored. */
void item_end_unstored(struct item *item, int code, const char *text);
/* It is stored: with its result or with `other`, which was there before. */
void item_end_stored(struct item *item, const struct message_result *other);

#endif
