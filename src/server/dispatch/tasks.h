/* SPDX-License-Identifier: MIT */
/* tasks.h - tasks: operations on hosts, from the request to the last result.  Combines the hub
 * (hub.h) with the store and the clock.
 *
 * tasks_operate() answers after the commit: by then the task and all its items are on disk.  A
 * result is shown after its commit.  Ended tasks stay in memory for ten minutes, unless they are
 * too many, and in the store for a week; tasks_read() looks in both.  When too many items are
 * unfinished, new requests are refused and may be retried later.
 *
 * Targets with the same agent, process, operation and spec (the same pointer: one agent that was
 * named in two ways) run once, and all of them end with its result.  Other targets with the same
 * key run in their order, each as an item of its own; results by key show the last one.
 *
 * An equal request of the same app joins the task that is open for it, unless a later request
 * concerns one of its processes.  A cancelled task stays cancelled and is never joined; operations
 * that were started continue.
 *
 * At start, tasks_load() resumes unfinished tasks.  The deadline of an item is the time of the
 * request plus the time-out of its operation, its checks and 30 s, so it is the same after a
 * restart. */
#ifndef SERVER_DISPATCH_TASKS_H
#define SERVER_DISPATCH_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "link/message.h"
#include "model/code.h"
#include "server/dispatch/task_info.h"
#include "server/fleet/fleet.h"
#include "server/fleet/retention.h"

struct hub_limits;
struct tasks;

/* The API that created the task; it decides the format of keys.  Result APIs do not return it. */
enum task_form { TASK_FORM_V2, TASK_FORM_V1, TASK_FORM_JOB, TASK_FORM_NATIVE };

struct task_target {
    const char *agent; /* NULL: no such host */
    const char *key;   /* as the caller spelled it; if two targets share a key, the last wins */
    int64_t op;
    struct proc_meta meta;
    const struct proc_spec *spec; /* never NULL; equal pointers share a row in the store */
    int64_t look;                 /* of a query: enum command_look */
    const char *signal;           /* of PROC_OP_SIGNAL; NULL: none */
    int64_t code;                 /* not 0: refused with this code (117, 823, 801 ...) */
    const char *text;             /* reason of the refusal */
    bool hosted;                  /* if refused: whether it is hosted, if the caller may know */
    bool by_agent_id;             /* the key begins with an agent id as the caller spelled it */
};

struct task_ask {
    const char *app, *user;
    int64_t form;            /* enum task_form */
    struct list targets;     /* struct task_target, at least one */
    bool idempotent;         /* nothing to do counts as success (operation_was_done()) */
    const char *request_key; /* store_requests.h; NULL or "": none */
    bool joins_only;         /* creates no task: ERR_CONFLICT if there is none to join */
    int64_t may_host;        /* enum app_may_host; not stored: none after a restart */
};

struct tasks_effects {
    /* Sends to the session of this epoch; dropped if it has ended. */
    void (*send)(void *arg, const char *agent, int64_t epoch, unsigned type, const struct shape *s,
                 const void *message);
    bool (*is_full)(void *arg, const char *agent, int64_t epoch); /* as in struct hub_effects */
};

struct tasks *tasks_new(struct loop *loop, struct log *log, struct store *store,
                        struct fleet *fleet, const struct tasks_effects *effects, void *arg);
void tasks_free(struct tasks *t);                 /* NULL is allowed; before the store is closed */
int tasks_load(struct tasks *t, struct err *err); /* blocks; once, before the loop runs */
void tasks_set_limits(struct tasks *t, const struct hub_limits *limits);
/* How long ended tasks stay in the store; 7 days by the wall clock unless set. */
void tasks_keep(struct tasks *t, int64_t days, const struct retention *retention);

/* `fn` is called once, later, or at once if joins_only finds no task; never after tasks_free().  It
 * gets an id and no failure, or a failure: then nothing was stored, and nothing will run.  The
 * contents of the request are copied. */
typedef void task_accepted_fn(void *arg, const char *id, const struct err *failure);
void tasks_operate(struct tasks *t, const struct task_ask *ask, task_accepted_fn *fn, void *arg);

/* `fn` is called once, perhaps before this returns; `task` is valid until `fn` returns.
 * CODE_NO_TASK if there is none. */
typedef void task_read_fn(void *arg, const struct task_info *task, const struct err *failure);
void tasks_read(struct tasks *t, const char *id, task_read_fn *fn, void *arg);

/* Cancels items that were not started.  `fn` is called once, perhaps before this returns, unless
 * the tasks are freed first: when the cancellation is stored, and the result of every item that was
 * never sent.  Items that were sent end later.  A task that has ended, or was cancelled before,
 * does not change. */
typedef void task_cancelled_fn(void *arg, const struct err *failure);
void tasks_cancel(struct tasks *t, const char *id, task_cancelled_fn *fn, void *arg);

/* Events of agents.  The welcome must be sent before tasks_on_session(), which starts commands. */
void tasks_on_session(struct tasks *t, const char *agent, int64_t epoch);
void tasks_on_session_end(struct tasks *t, const char *agent, int64_t epoch);
void tasks_on_message(struct tasks *t, const char *agent, int64_t epoch, unsigned type,
                      const void *message);

int64_t tasks_open(const struct tasks *t);                        /* number of unfinished tasks */
int64_t tasks_deadline_ms(const struct tasks *t, const char *id); /* of a task in memory; else 0 */

#endif
