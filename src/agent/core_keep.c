/* SPDX-License-Identifier: MIT */
/* core_keep.c - a hosted process is kept alive.
 *
 * A restart is an operation of our own making: it looks, runs start_cmd and
 * checks, just like one that was asked for.  The first comes at once, the others
 * start_interval apart, start_retries in all; a process that has run for
 * FORGIVE_MS is well again.  When the tries are used up hosting ends, so that
 * clients see the truth.  With keep_trying they never are, and each interval is twice
 * the one before, up to max_interval.
 *
 * One that ends by itself with one of exit_codes has done what it was to do, and one that
 * the host's policy forbids stays down: both stay hosted, and are left alone until they are
 * hosted anew or started, or the host is; the latter also until the policy is another. */
#include "agent/core_care.h"
#include "agent/core_cause.h"
#include "agent/core_cycle.h"
#include "agent/core_in.h"
#include "agent/core_limit.h"
#include "agent/core_op.h"
#include "agent/core_order.h"

enum { FORGIVE_MS = 300 * 1000 };

/* What waits, be it for the disk, which may be full for days, does nothing to the process;
 * but for one that an agent before us had begun. */
static bool is_acted_on(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && (op_is_acting(op) ||
                  (op->phase == PHASE_JOURNAL && (op->is_durable || op->was_running)));
}

/* One of our own that waits for a slot will be, and another for the same reason would come
 * after it. */
bool keep_is_in_work(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return is_acted_on(k) || (op && op_is_ours(op));
}

static bool is_resident(const struct kept *k)
{
    return proc_policy_of(&k->spec).kind == PROC_RESIDENT;
}

bool keep_is_wanted(const struct kept *k)
{
    return k->hosted && k->has_spec && k->wanted == PROC_RUNNING && !k->cause.has_finished &&
           !k->is_denied && is_resident(k);
}

static bool is_kept(const struct kept *k)
{
    return keep_is_wanted(k) && !keep_is_in_work(k);
}

void keep_on_host(struct kept *k)
{
    k->is_denied = false;
    if (is_resident(k))
        k->cause.has_finished = false;
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
    order_on_change(k);
}

/* From the last try to the next one.  It never gets shorter than start_interval. */
static int64_t interval_ms(const struct kept *k)
{
    int64_t first_s = proc_policy_of(&k->spec).start_interval_s, wait_s = first_s;
    int64_t most_s =
        k->spec.extra.max_interval_s > first_s ? k->spec.extra.max_interval_s : first_s;

    if (!k->tries)
        return 0;
    for (int64_t i = 1; k->spec.extra.keep_trying && i < k->tries && wait_s < most_s; i++)
        wait_s = 2 * wait_s < most_s ? 2 * wait_s : most_s;
    return wait_s * 1000;
}

void keep_look(struct kept *k)
{
    struct core *c = k->core;
    int64_t wait_ms = interval_ms(k);

    order_on_change(k);
    limit_look(k);
    cycle_look(k);
    care_look(k);
    if (!c->is_started || !is_kept(k) || k->ident.pid || k->timer.place || *order_waits_for(k))
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
struct op *op_new_ours(struct kept *k, int64_t number, enum op_aim aim)
{
    const struct message_command command = {
        .task = "",
        .op = number,
        .meta = k->meta,
        .spec = k->spec,
    };
    struct op *op = op_new(k->core, &command);

    op->aim = aim;
    op->is_durable = true; /* nobody waits for it, so it needs no journal */
    TAILQ_REMOVE(&k->ops, op, link);
    TAILQ_INSERT_HEAD(&k->ops, op, link);
    return op;
}

static struct op *new_restart(struct kept *k)
{
    return op_new_ours(k, *k->spec.control.start_cmd ? PROC_OP_START : PROC_OP_RESTART, AIM_KEEP);
}

/* Its first half ends with no process, and the second one's command is the last to start it. */
static struct op *resume_health(struct kept *k)
{
    struct op *op = op_new_ours(k, PROC_OP_RESTART, AIM_HEALTH);

    op->stops_first =
        !*k->spec.control.restart_cmd && k->ident.pid && !core_is_same(k->run, k->start);
    return op;
}

void keep_resume(struct kept *k)
{
    struct op *op = k->run_aim == AIM_LIMIT    ? limit_resume(k)
                    : k->run_aim == AIM_CYCLE  ? cycle_resume(k)
                    : k->run_aim == AIM_HEALTH ? resume_health(k)
                                               : new_restart(k);

    op->was_running = true;
    op->run = k->run;
}

void keep_on_time(void *arg)
{
    struct kept *k = arg;

    if (!is_kept(k) || k->ident.pid || !order_may_start(k))
        return;
    timers_stop(&k->core->timers, &k->timer);
    k->tries++;
    new_restart(k);
    op_begin_next(k);
}

/* It has ended as its spec says it may, and nobody had asked it to: what is in work, if
 * anything, is to bring it up. */
static bool is_at_its_end(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return keep_is_wanted(k) && proc_exit_is_expected(&k->spec.extra, (int)k->cause.exit_code) &&
           (!is_acted_on(k) || (op_is_ours(op) && op->command.op == PROC_OP_START));
}

bool keep_restart(struct kept *k)
{
    if (!is_kept(k) || !may_try(k))
        return false;
    k->tries++;
    op_new_ours(k, PROC_OP_RESTART, AIM_HEALTH);
    op_begin_next(k);
    return true;
}

/* One that was restarted for its health has run for long without being well. */
void keep_forgive(struct kept *k)
{
    if (k->core->now_ms - k->begun_ms >= FORGIVE_MS)
        k->tries = 0;
}

void keep_on_exit(struct kept *k)
{
    if (!k->cause.unhealthy_s)
        keep_forgive(k);
    if (is_at_its_end(k))
        k->cause.has_finished = true;
    book_process(k);
    core_tell_process(k);
    keep_look(k);
}

/* Was up, and had done its work by the time of the check. */
static bool has_come_to_its_end(struct kept *k, int code)
{
    if (code != CODE_CHECK || !k->cause.has_finished)
        return false;
    cause_on_success(k);
    k->cause.has_finished = true;
    return true;
}

/* 828 is as good: it was there when we looked. */
void keep_on_done(struct kept *k, int code, const char *text)
{
    k->run = (struct core_ident){ 0 };
    k->is_denied = code == CODE_DENIED;
    if ((code == CODE_RUNNING || code == CODE_DENIED) && k->tries > 0)
        k->tries--; /* nothing had to be done, or was */
    if (code == CODE_OK || has_come_to_its_end(k, code)) {
        k->restarts++;
        k->core->restarted++;
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

/* What was forbidden may be allowed now. */
void core_on_policy(struct core *c, int64_t now_ms)
{
    struct map_entry *e;

    c->now_ms = now_ms;
    for (size_t at = 0; (e = map_next(&c->kept, &at));) {
        struct kept *k = e->value;

        if (!k->is_denied)
            continue;
        k->is_denied = false;
        keep_look(k);
    }
}
