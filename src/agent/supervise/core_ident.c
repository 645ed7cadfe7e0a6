/* SPDX-License-Identifier: MIT */
/* core_ident.c - which process of the operating system is the main process of which entry. */
#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_in.h"
#include "agent/supervise/core_op.h"

/* The first process entry with this pid. */
struct proc *core_first_of_pid(const struct core *c, int64_t pid)
{
    return map_find(&c->by_pid, (const char *)&pid, sizeof(pid));
}

/* Two entries may have the same pid: the replaced map value becomes the next in the list. */
static void put_pid(struct proc *k)
{
    k->same_pid = map_put(&k->core->by_pid, (const char *)&k->ident.pid, sizeof(k->ident.pid), k);
}

static void drop_pid(struct proc *k)
{
    struct proc *first = core_first_of_pid(k->core, k->ident.pid), *next;

    map_del(&k->core->by_pid, (const char *)&k->ident.pid, sizeof(k->ident.pid));
    for (; first; first = next) {
        next = first->same_pid;
        if (first != k)
            put_pid(first);
    }
}

/* By its own age: start_ticks are 1/100 s. */
static int64_t began_ms(const struct core *c, struct core_ident ident)
{
    enum { MS_PER_TICK = 10 };

    return ident.start_ticks < c->now_ms / MS_PER_TICK ? ident.start_ticks * MS_PER_TICK
                                                       : c->now_ms;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When it got its name: a process that was started had another one when it was looked for in vain,
 * as long as it was on its way into its program. */
int64_t core_named_ms(const struct proc *k, struct core_ident ident)
{
    int64_t from_ms = began_ms(k->core, ident);

    return k->actual == ACTUAL_STARTING ? later(from_ms, later(k->tried_ms, k->missed_ms))
                                        : from_ms;
}

/* The main process has a successor while its family is cleared. */
static bool is_successor(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && op->phase == PHASE_CLEAR;
}

void core_restore_ident(struct proc *k, struct core_ident ident, int64_t begun_ms)
{
    struct core *c = k->core;

    if (k->ident.pid) {
        drop_pid(k);
        cause_on_start(k);
        k->is_outdated = false;
        k->last = k->ident;
        k->last_start = k->start;
        k->last_ms = k->has_ended_unseen ? 0 : c->now_ms;
        k->lived_ms = c->now_ms - k->begun_ms;
    }
    k->is_after_run = !ident.pid;
    k->may_finish = false;
    k->ident = ident;
    k->cause.since_s = c->wall_ms / 1000;
    if (ident.pid) {
        k->is_owed = false;
        k->attempt_ms = 0;
        k->begun_ms = begun_ms;
        put_pid(k);
        c->effects->watch(c->arg, ident);
    }
    proc_step(k, ident.pid ? PROC_EVENT_FOUND : PROC_EVENT_ENDED);
}

/* It was started by other means. */
static void forget_start(struct proc *k)
{
    k->start = (struct core_ident){ 0 };
    core_set_siblings(k, "");
    k->knows_siblings = true;
}

void core_set_ident(struct proc *k, struct core_ident ident)
{
    bool is_of_start = k->actual == ACTUAL_STARTING || k->ident.pid || is_successor(k);

    if (core_is_same(ident, k->ident))
        return;
    if (ident.pid && k->core->is_started && !is_of_start)
        forget_start(k);
    core_restore_ident(k, ident, core_named_ms(k, ident));
}

struct proc *core_proc_of_ident(const struct core *c, struct core_ident ident)
{
    struct proc *k = core_first_of_pid(c, ident.pid);

    while (k && k->ident.start_ticks != ident.start_ticks)
        k = k->same_pid;
    return k;
}

bool core_has_living_start(const struct proc *k)
{
    const struct core *c = k->core;

    return k->last_start.pid > 0 && !core_is_same(k->last_start, k->last) && c->effects->is_alive &&
           c->effects->is_alive(c->arg, k->last_start);
}
