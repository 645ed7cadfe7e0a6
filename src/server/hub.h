/* SPDX-License-Identifier: MIT */
/* hub.h - the dispatcher: sessions of agents, tasks, their items, deadlines.
 *
 * Pure, like the agent's core: it does no I/O and reads no clock.  What happens
 * is told to it by hub_on_*(); what it wants done it asks of its hands, which
 * must not call back into it.
 *
 * What it promises:
 *   - a task and all its items are stored before its id is given to anyone;
 *   - every item ends, with a result of the agent or of ours, by its deadline;
 *   - a result is shown when it is stored, and never changes after that;
 *   - nobody waits for what others have asked: apps take turns, and so do an app's tasks, within
 *     limits (struct hub_limits); what waits for its turn waits within its deadline;
 *   - items of one process go to its agent in the order in which they were accepted;
 *   - items of one task with the same agent, process, operation and spec (one agent that
 *     was named in two ways) are run once, and each ends with what came of it;
 *   - an item of a task that was cancelled ends with 826 if nothing of it was begun: at once
 *     if it was never sent, else when the agent says so.  What runs by then goes on, and ends
 *     with what came of it;
 *   - an agent that has been away for OFFLINE_MS gets nothing: its items end with
 *     117 before they are stored, but not before the reconnect window after a start
 *     has passed. */
#ifndef SERVER_HUB_H
#define SERVER_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "link/message.h"
#include "model/code.h"

struct hub;

enum { HUB_OFFLINE_MS = 10 * 1000, HUB_GRACE_MS = 30 * 1000 };

/* Of what agents were sent.  An app that has nothing on the way may send one in any case. */
enum { HUB_PER_AGENT = 8000, HUB_TOTAL = 4000 };
struct hub_limits {
    size_t per_agent; /* items that an agent has to do, or whose results are not stored */
    size_t total;     /* items that no agent has answered yet, neither that it has them nor more;
                       * of agents that are silent for a second none count */
};

/* One target of one operation, as it is asked for and as it is stored. */
struct hub_item {
    const char *agent; /* NULL: no such host */
    const char *key;   /* how the caller will look for the result */
    int64_t op;
    struct proc_meta meta;
    const struct proc_spec *spec; /* one pointer is one spec: it is kept once */
    int64_t deadline_ms;          /* on our clock */
    int64_t code;                 /* CODE_WAITING until it has ended */
    const char *text;
    bool was_sent;         /* before a restart, perhaps: that it never ran can not be said */
    struct proc_view view; /* while it waits, and of what never ran: its name alone */
};

struct hub_task {
    const char *id;
    struct list items; /* struct hub_item */
    bool is_cancelled; /* before a restart */
    const char *app;   /* who takes turns with others; NULL is as good as "" */
};

struct hub_hands {
    /* -> hub_on_task_stored().  The items are the hub's own: those that need nobody, as
     * their agent is away, have ended. */
    void (*store_task)(void *arg, const struct hub_task *task);
    /* -> hub_on_result_stored(); idempotent, the first one counts.  The result is good
     * until then. */
    void (*store_result)(void *arg, const char *task, int64_t item,
                         const struct message_result *result);
    void (*send)(void *arg, const char *agent, int64_t epoch, unsigned type, const struct shape *s,
                 const void *message);
    /* So much waits to be sent to it that commands and cancels would be dropped; they wait here
     * then.  NULL: never. */
    bool (*is_full)(void *arg, const char *agent, int64_t epoch);
    /* It is connected, ready or not: so it is not away.  NULL: that is not known. */
    bool (*is_here)(void *arg, const char *agent);
};

struct hub *hub_new(const struct hub_hands *hands, void *arg, int64_t now_ms);
void hub_free(struct hub *h);
void hub_set_limits(struct hub *h, const struct hub_limits *limits);

/* A task of before the start, that has not ended. */
void hub_load(struct hub *h, const struct hub_task *task, int64_t now_ms);

void hub_operate(struct hub *h, const struct hub_task *task, int64_t now_ms);
/* That it is to be cancelled is stored; again is fine. */
void hub_cancel(struct hub *h, const char *task, int64_t now_ms);
/* With a failure the task never was. */
void hub_on_task_stored(struct hub *h, const char *task, const struct err *failure, int64_t now_ms);
/* `other` is what the store has, if that is not what it was given; else NULL. */
void hub_on_result_stored(struct hub *h, const char *task, int64_t item,
                          const struct message_result *other, int64_t now_ms);
/* It is here, though its session is not ready: for a while it is not away. */
void hub_on_arrival(struct hub *h, const char *agent, int64_t now_ms);
void hub_on_session(struct hub *h, const char *agent, int64_t epoch, int64_t now_ms);
void hub_on_session_end(struct hub *h, const char *agent, int64_t epoch, int64_t now_ms);
void hub_on_message(struct hub *h, const char *agent, int64_t epoch, unsigned type,
                    const void *message, int64_t now_ms);
void hub_on_time(struct hub *h, int64_t now_ms);
/* The past: there is something to do at once, and hub_on_time() does the next slice of it. */
int64_t hub_next_ms(const struct hub *h);

/* The task's items as they stand, n of them; NULL if it is not in memory, or not stored. */
const struct hub_item *hub_find(const struct hub *h, const char *task, size_t *ret_n);

/* It has a session, had one a moment ago, or something to do: of others nothing is kept. */
bool hub_knows(const struct hub *h, const char *agent);

/* Forgets a task that has ended; the store still knows it. */
void hub_forget(struct hub *h, const char *task);

#endif
