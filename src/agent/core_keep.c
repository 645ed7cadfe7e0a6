/* SPDX-License-Identifier: MIT */
/* core_keep.c - a hosted process is kept alive.
 *
 * A restart is an operation of our own making: it looks, runs start_cmd and
 * checks, just like one that was asked for.  The first comes at once, the others
 * start_interval apart, start_retries in all; a process that has run for
 * FORGIVE_MS is well again.  When the tries are used up hosting ends, so that
 * clients see the truth. */
#include <stdio.h>

#include "agent/core_in.h"
#include "agent/core_op.h"

enum { FORGIVE_MS = 300 * 1000 };

/* What waits for the disk, which may be full for days, does nothing to the process. */
static bool is_in_work(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && op->phase != PHASE_SYNC && (op->phase != PHASE_JOURNAL || op->is_durable);
}

static bool is_kept(const struct kept *k)
{
    return k->hosted && k->has_spec && k->wanted == PROC_RUNNING && !is_in_work(k) &&
           proc_policy_of(&k->spec).kind == PROC_RESIDENT;
}

void keep_look(struct kept *k)
{
    struct core *c = k->core;
    int64_t wait_ms = k->tries ? proc_policy_of(&k->spec).start_interval_s * 1000 : 0;

    if (!c->is_started || !is_kept(k) || k->ident.pid || k->timer.place)
        return;
    if (wait_ms)
        timers_set(&c->timers, &k->timer, c->now_ms + wait_ms);
    else
        keep_on_time(k);
}

static void give_up(struct kept *k)
{
    k->hosted = false;
    snprintf(k->why, sizeof(k->why), "given up after %lld restarts", (long long)k->tries);
    book_process(k);
    core_tell_event(k, "process_cancel_restart", "%s is no longer hosted: %s", k->meta.name,
                    k->why);
    core_tell_process(k);
}

/* Before all others: those that came wait for the disk, or it was in work when the agent
 * before us died. */
static struct op *new_restart(struct kept *k)
{
    const struct message_command command = {
        .task = "",
        .op = *k->spec.control.start_cmd ? PROC_OP_START : PROC_OP_RESTART,
        .meta = k->meta,
        .spec = k->spec,
    };
    struct op *op = op_new(k->core, &command);

    op->is_durable = true; /* nobody waits for it, so it needs no journal */
    TAILQ_REMOVE(&k->ops, op, link);
    TAILQ_INSERT_HEAD(&k->ops, op, link);
    return op;
}

void keep_resume(struct kept *k)
{
    struct op *op = new_restart(k);

    op->was_running = true;
    op->run = k->run;
}

void keep_on_time(void *arg)
{
    struct kept *k = arg;

    if (!is_kept(k) || k->ident.pid)
        return;
    if (k->tries >= proc_policy_of(&k->spec).start_retries && !k->spec.extra.keep_trying) {
        give_up(k);
        return;
    }
    k->tries++;
    new_restart(k);
    op_begin_next(k);
}

void keep_on_exit(struct kept *k, int status)
{
    struct core *c = k->core;

    if (c->now_ms - k->begun_ms >= FORGIVE_MS)
        k->tries = 0;
    if (status == CORE_STATUS_UNKNOWN)
        snprintf(k->why, sizeof(k->why), "it has ended");
    else if (status >= CORE_SIGNALED)
        snprintf(k->why, sizeof(k->why), "ended by signal %d", status % CORE_SIGNALED);
    else
        snprintf(k->why, sizeof(k->why), "ended with exit code %d", status);
    book_process(k);
    core_tell_process(k);
    keep_look(k);
}

/* 828 is as good: it was there when we looked. */
void keep_on_done(struct kept *k, int code, const char *text)
{
    k->run = (struct core_ident){ 0 };
    if (code == CODE_RUNNING && k->tries > 0) {
        k->tries--; /* nothing had to be done */
    } else if (code == CODE_OK) {
        k->restarts++;
        core_tell_event(k, "process_restart_success",
                        "check %s not running, and restart it success", k->meta.name);
    } else if (code != CODE_RUNNING) {
        core_tell_event(k, "process_restart_failed",
                        "check %s not running, and restart it failed: %s", k->meta.name, text);
    }
    book_process(k);
    core_tell_process(k);
    op_begin_next(k);
}
