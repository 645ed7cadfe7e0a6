/* SPDX-License-Identifier: MIT */
/* tasks.h - operations asked of hosts, from the request to the last result: the hub
 * (hub.h) with its store and its clock.
 *
 * tasks_operate() answers after the commit: the task and every item of it are on the disk
 * then.  A result is shown after the commit too.  Tasks that have ended stay in memory for ten
 * minutes, unless they are too many, and in the store for a week; tasks_read() looks in both.
 * Too many that have not ended: who asks for more may try later.
 *
 * Targets with the same agent, process, operation and spec (the very same pointer: one agent that
 * was named in two ways) run once, and all end with what came of it.  Others with one key run in
 * their order; each stays an item of its own, and who shows them by their keys shows the last.
 *
 * The same ask of the same app (word for word, whatever its pointers) joins the task
 * that is open for it, unless something else was asked of one of its processes since.
 * A task that is cancelled stays so, and is never joined; what has begun by then goes on.
 *
 * At start tasks_load() takes up what had not ended.  An item's deadline is its operation's
 * time-out, its checks and 30 s from when it was asked for, so it is the same after a restart. */
#ifndef SERVER_TASKS_H
#define SERVER_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "link/message.h"
#include "model/code.h"
#include "server/fleet.h"
#include "server/retention.h"
#include "server/task_info.h"

struct hub_limits;
struct tasks;

/* Which API made a task decides how its keys look; the result APIs say so to nobody. */
enum task_form { TASK_FORM_V2, TASK_FORM_V1, TASK_FORM_JOB };

struct task_target {
    const char *agent; /* NULL: no such host */
    const char *key;   /* as the caller spelled it; two targets may share one: the last wins */
    int64_t op;
    struct proc_meta meta;
    const struct proc_spec *spec; /* never NULL; those that share it share its row in the store */
    int64_t code;                 /* not 0: refused with this from the start (117, 823, 801 ...) */
    const char *text;             /* why */
    bool hosted;                  /* then: what is known of the process, for who may know it */
};

struct task_ask {
    const char *app, *user;
    int64_t form;            /* enum task_form */
    struct list targets;     /* struct task_target, at least one */
    bool idempotent;         /* what is so already counts as done (task_is_so()) */
    const char *request_key; /* store_requests.h; NULL or "": none */
};

struct tasks_hands {
    /* To the session of that epoch, or to nobody. */
    void (*send)(void *arg, const char *agent, int64_t epoch, unsigned type, const struct shape *s,
                 const void *message);
    bool (*is_full)(void *arg, const char *agent, int64_t epoch); /* as struct hub_hands has it */
};

struct tasks *tasks_new(struct loop *loop, struct log *log, struct store *store,
                        struct fleet *fleet, const struct tasks_hands *hands, void *arg);
void tasks_free(struct tasks *t);                 /* NULL is fine; before the store is closed */
int tasks_load(struct tasks *t, struct err *err); /* blocks; once, before the loop runs */
void tasks_set_limits(struct tasks *t, const struct hub_limits *limits);
/* How long those that have ended are kept; 7 days by the wall clock unless this is said. */
void tasks_keep(struct tasks *t, int64_t days, const struct retention *retention);

/* `fn` is called once, later, unless the tasks are freed first: `id` and no failure, or a
 * failure: nothing was stored then, and nothing will run.  What it points to is copied. */
typedef void task_accepted_fn(void *arg, const char *id, const struct err *failure);
void tasks_operate(struct tasks *t, const struct task_ask *ask, task_accepted_fn *fn, void *arg);

/* `fn` is called once, perhaps before this returns; `task` is good until it returns.
 * CODE_NO_TASK if there is none. */
typedef void task_read_fn(void *arg, const struct task_info *task, const struct err *failure);
void tasks_read(struct tasks *t, const char *id, task_read_fn *fn, void *arg);

/* Cancels what has not been begun.  `fn` is called once, perhaps before this returns, unless
 * the tasks are freed first: when that it is to be cancelled is stored, and with it each item
 * that no agent was sent.  Those of agents end later.  Of a task that has ended, or was
 * cancelled before, nothing changes. */
typedef void task_cancelled_fn(void *arg, const struct err *failure);
void tasks_cancel(struct tasks *t, const char *id, task_cancelled_fn *fn, void *arg);

/* What agents do and say.  The welcome must have been sent before tasks_on_session(),
 * which lets commands flow. */
void tasks_on_session(struct tasks *t, const char *agent, int64_t epoch);
void tasks_on_session_end(struct tasks *t, const char *agent, int64_t epoch);
void tasks_on_message(struct tasks *t, const char *agent, int64_t epoch, unsigned type,
                      const void *message);

int64_t tasks_open(const struct tasks *t);                        /* how many have not ended */
int64_t tasks_deadline_ms(const struct tasks *t, const char *id); /* of one in memory; else 0 */

#endif
