/* SPDX-License-Identifier: MIT */
/* core_keep.c - a hosted process is kept alive.
 *
 * A restart is an operation of our own making: it looks, runs start_cmd and
 * checks, just like one that was asked for.  The first comes at once, the others
 * start_interval apart, start_retries in all; a process that has run for
 * FORGIVE_MS is well again.  When the tries are used up hosting ends, so that
 * clients see the truth. */
#include "agent/core_in.h"
#include "agent/core_op.h"

enum { FORGIVE_MS = 300 * 1000 };

/* What waits, be it for the disk, which may be full for days, does nothing to the process;
 * but for one that an agent before us had begun. */
static bool is_in_work(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && (op_is_acting(op) ||
                  (op->phase == PHASE_JOURNAL && (op->is_durable || op->was_running)));
}

static bool is_kept(const struct kept *k)
{
    return k->hosted && k->has_spec && k->wanted == PROC_RUNNING && !is_in_work(k) &&
           proc_policy_of(&k->spec).kind == PROC_RESIDENT;
}

static bool may_try(const struct kept *k)
{
    return k->spec.extra.keep_trying || (k->is_owed && !k->tries) ||
           k->tries < proc_policy_of(&k->spec).start_retries;
}

static void give_up(struct kept *k)
{
    k->hosted = false;
    k->cause.has_given_up = true;
    book_process(k);
    core_tell_event(k, "process_cancel_restart",
                    "%s is no longer hosted: given up after %lld restarts", k->meta.name,
                    (long long)k->tries);
    core_tell_process(k);
}

void keep_look(struct kept *k)
{
    struct core *c = k->core;
    int64_t wait_ms = k->tries ? proc_policy_of(&k->spec).start_interval_s * 1000 : 0;

    if (!c->is_started || !is_kept(k) || k->ident.pid || k->timer.place)
        return;
    k->cause.next_try_s = (c->wall_ms + wait_ms) / 1000;
    if (!may_try(k))
        give_up(k);
    else if (wait_ms)
        timers_set(&c->timers, &k->timer, c->now_ms + wait_ms);
    else
        keep_on_time(k);
}

/* Before all others: those that came wait, or it was in work when the agent before us
 * died. */
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
    k->tries++;
    new_restart(k);
    op_begin_next(k);
}

void keep_on_exit(struct kept *k)
{
    if (k->core->now_ms - k->begun_ms >= FORGIVE_MS)
        k->tries = 0;
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
