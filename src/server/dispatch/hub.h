/* SPDX-License-Identifier: MIT */
/* hub.h - the dispatcher: sessions of agents, tasks, their items, deadlines.
 *
 * The hub is pure, like the agent's core: it does no I/O and reads no clock. hub_on_*() report
 * events to it; it acts through struct hub_effects, whose functions must not call back into it.
 *
 * It guarantees:
 *
 *   - a task and all its items are stored before its id is given to a client;
 *   - every item ends by its deadline, with a result of the agent or of the hub;
 *   - a result is shown once it is stored, and never changes afterwards;
 *   - no app waits for the requests of another: apps take turns, and so do the tasks of an app,
 *     within limits (struct hub_limits); the deadline includes the time spent waiting for a turn;
 *   - items of one process go to its agent in the order in which they were accepted;
 *   - items of one task with the same agent, process, operation and spec (one agent that was named
 *     in two ways) are run once, and all of them end with its result;
 *   - an item of a cancelled task ends with 826 if it was not started: at once if it was never
 *     sent, else when the agent confirms it.  An operation that was started continues, and the item
 *     ends with its result;
 *   - an agent that has been offline for OFFLINE_MS is sent nothing: its items end with 117 before
 *     they are stored, but not within the reconnect window after a start. */
#ifndef SERVER_DISPATCH_HUB_H
#define SERVER_DISPATCH_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "link/message.h"
#include "model/code.h"

struct hub;

enum { HUB_OFFLINE_MS = 10 * 1000, HUB_GRACE_MS = 30 * 1000 };

/* Limits for items that were sent.  An app without an item on the way may always send one. */
enum { HUB_PER_AGENT = 8000, HUB_TOTAL = 4000 };
struct hub_limits {
    size_t per_agent; /* items that an agent has to run, or whose results are not stored */
    size_t total; /* items without an acknowledgement or answer, except of agents silent for 1 s */
};

/* One target of one operation, as requested and as stored. */
struct hub_item {
    const char *agent; /* NULL: no such host */
    const char *key;   /* the key by which the caller looks for the result */
    int64_t op;
    struct proc_meta meta;
    const struct proc_spec *spec; /* items with the same pointer share one copy */
    int64_t look;                 /* enum command_look */
    const char *signal;           /* of PROC_OP_SIGNAL; NULL: none */
    int64_t deadline_ms;          /* on the hub's clock */
    int64_t code;                 /* CODE_WAITING until it has ended */
    const char *text;
    bool by_agent_id;      /* as in struct task_target */
    bool was_sent;         /* perhaps sent before a restart: it may have run */
    struct proc_view view; /* only names while it waits, and if it never ran */
};

struct hub_task {
    const char *id;
    struct list items; /* struct hub_item */
    bool is_cancelled; /* before a restart */
    const char *app;   /* apps take turns; NULL is the same as "" */
    bool is_native;    /* of our own API: ending restart attempts, or hosting a running process, is
                          success */
    bool is_idempotent;
    int64_t may_host; /* enum app_may_host */
};

struct hub_effects {
    /* Answered by hub_on_task_stored().  The items are the hub's own; those whose agent is offline
     * have ended already. */
    void (*store_task)(void *arg, const struct hub_task *task);
    /* Answered by hub_on_result_stored().  Idempotent: the first result counts.  The result is
     * valid until then. */
    void (*store_result)(void *arg, const char *task, int64_t item,
                         const struct message_result *result);
    void (*send)(void *arg, const char *agent, int64_t epoch, unsigned type, const struct shape *s,
                 const void *message);
    /* Whether a command or cancel would be dropped because too much waits to be sent to the agent;
     * the hub holds it back then.  NULL: never. */
    bool (*is_full)(void *arg, const char *agent, int64_t epoch);
    /* Whether the agent is connected, even if its session is not ready: then it is not offline.
     * NULL: unknown. */
    bool (*is_here)(void *arg, const char *agent);
};

struct hub *hub_new(const struct hub_effects *effects, void *arg, int64_t now_ms);
void hub_free(struct hub *h);
void hub_set_limits(struct hub *h, const struct hub_limits *limits);

/* Adds an unfinished task from the store, at start. */
void hub_load(struct hub *h, const struct hub_task *task, int64_t now_ms);

void hub_operate(struct hub *h, const struct hub_task *task, int64_t now_ms);
/* Call when the cancellation is stored; repeating it is allowed. */
void hub_cancel(struct hub *h, const char *task, int64_t now_ms);
/* With a failure the task is dropped. */
void hub_on_task_stored(struct hub *h, const char *task, const struct err *failure, int64_t now_ms);
/* `other` is the stored result if it differs from the given one; else NULL. */
void hub_on_result_stored(struct hub *h, const char *task, int64_t item,
                          const struct message_result *other, int64_t now_ms);
/* The agent is connected, though its session is not ready: for a while it does not count as
 * offline. */
void hub_on_arrival(struct hub *h, const char *agent, int64_t now_ms);
void hub_on_session(struct hub *h, const char *agent, int64_t epoch, int64_t now_ms);
void hub_on_session_end(struct hub *h, const char *agent, int64_t epoch, int64_t now_ms);
void hub_on_message(struct hub *h, const char *agent, int64_t epoch, unsigned type,
                    const void *message, int64_t now_ms);
void hub_on_time(struct hub *h, int64_t now_ms);
/* A time in the past means that work is left; hub_on_time() does the next slice of it. */
int64_t hub_next_ms(const struct hub *h);

/* The task's items in their current state; NULL if it is not in memory, or not stored. */
const struct hub_item *hub_find(const struct hub *h, const char *task, size_t *ret_n);

/* Whether the agent has a session, had one recently, or has items; others are not remembered. */
bool hub_knows(const struct hub *h, const char *agent);

/* Removes an ended task from memory; the store still has it. */
void hub_forget(struct hub *h, const char *task);

#endif
