/* SPDX-License-Identifier: MIT */
/* core_restart.c - the restart rule: whether and when a hosted process is started again.
 *
 * proc_table.c says when the functions here run.  A restart is an internal operation: it probes,
 * runs start_cmd and checks, like a requested start.
 *
 * A run is up when it has lived for start_check_secs, and a process is proven when a run of its
 * spec was up once; for a proven process half of start_check_secs is enough.
 *
 *   A run that was up ends           It is restarted at once, every time.
 *   A start fails, or a run ends     A failure.  A proven process is started again at once for the
 *   before it was up                 first FAST_MAX failures in a row, but 1 s after the last start
 *                                    began.  Otherwise the next try comes start_interval after the
 *                                    failed one began, and 1 s after it ended.  After start_retries
 *                                    such tries in a row hosting ends.
 *
 * With keep_trying it is retried forever with exponential back-off, capped at max_interval.  A
 * process that exits with one of exit_codes has completed, and a process that the host's policy
 * forbids stays down.  Both stay hosted and are not restarted until they are hosted again or
 * started, or the host reboots; a forbidden process also until the policy changes. */
#include "agent/supervise/core_restart.h"

#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_cycle.h"
#include "agent/supervise/core_filewatch.h"
#include "agent/supervise/core_health.h"
#include "agent/supervise/core_in.h"
#include "agent/supervise/core_limit.h"
#include "agent/supervise/core_op.h"
#include "agent/supervise/core_order.h"
#include "agent/supervise/core_rate.h"

/* FAST_MAX: failures in a row of a proven process that are retried at once.  PATIENCE_MS: for so
 * long after it was last up, hosting of a proven process without start_retries does not end.
 * UNSEEN_MS: a process of a previous agent that is found to have ended within this time of our own
 * start has ended before it. */
enum { FAST_MAX = 5, APART_MS = 1000, PATIENCE_MS = 600 * 1000, UNSEEN_MS = 1000 };

/* An operation that waits for the journal has not touched the process yet, unless a previous
 * agent had started it. */
static bool is_acted_on(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return op && (op_is_acting(op) ||
                  (op->phase == PHASE_JOURNAL && (op->is_durable || op->begun == BEGUN_BEFORE)));
}

/* An internal operation that waits for a slot counts as in progress; otherwise a second restart
 * would be queued behind it. */
bool restart_is_in_progress(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return is_acted_on(k) || (op && op_is_ours(op));
}

static bool is_resident(const struct proc *k)
{
    return proc_policy_of(&k->spec).kind == PROC_RESIDENT;
}

bool restart_is_wanted(const struct proc *k)
{
    return k->hosted && k->has_spec && k->wanted == PROC_RUNNING && !k->cause.has_finished &&
           !k->is_denied && is_resident(k);
}

/* ---- what counts */

static bool has_retries(const struct proc *k)
{
    return k->spec.policy.has_retries == PRESENCE_GIVEN ||
           k->spec.alive_policy.has_retries == PRESENCE_GIVEN;
}

static int64_t up_after_ms(const struct proc *k)
{
    int64_t check_ms = proc_policy_of(&k->spec).start_check_s * 1000;
    int64_t need_ms = k->is_proven ? check_ms / 2 : check_ms;

    return need_ms > APART_MS ? need_ms : APART_MS;
}

/* A run with a spec that was replaced meanwhile proves nothing about the new one. */
static void note_up(struct proc *k)
{
    bool is_news = k->failed_ms || (!k->is_proven && !k->is_outdated);

    k->up_ms = k->core->now_ms;
    k->tries = k->fast_tries = k->failed_ms = 0;
    k->is_proven |= !k->is_outdated;
    if (is_news && core_is_known(k))
        journal_note_process(k);
}

void restart_on_failure(struct proc *k)
{
    k->failed_ms = k->core->now_ms;
}

void restart_reset(struct proc *k)
{
    k->tries = k->fast_tries = k->failed_ms = k->attempt_ms = 0;
    k->is_denied = k->may_finish = false;
    if (is_resident(k))
        k->cause.has_finished = false;
}

void restart_on_boot(struct proc *k)
{
    k->is_owed = k->hosted;
    k->tried_ms = 0;
    k->up_ms = k->core->now_ms;
    restart_reset(k);
}

static bool is_same_env(const struct list *a, const struct list *b)
{
    const struct proc_env *x = a->items, *y = b->items;
    bool is_same = a->n == b->n;

    for (size_t i = 0; is_same && i < a->n; i++)
        is_same = !strcmp(x[i].key, y[i].key) && !strcmp(x[i].value, y[i].value);
    return is_same;
}

/* Whether both are run the same way. */
static bool is_same_run(const struct proc_spec *a, const struct proc_spec *b)
{
    return !strcmp(a->control.start_cmd, b->control.start_cmd) &&
           !strcmp(a->control.restart_cmd, b->control.restart_cmd) &&
           !strcmp(a->identity.proc_name, b->identity.proc_name) &&
           !strcmp(a->identity.setup_path, b->identity.setup_path) &&
           !strcmp(a->identity.pid_path, b->identity.pid_path) &&
           !strcmp(a->identity.user, b->identity.user) &&
           !strcmp(a->extra.env_file, b->extra.env_file) &&
           is_same_env(&a->extra.env, &b->extra.env);
}

void restart_on_spec(struct proc *k, const struct proc_spec *spec)
{
    if (!k->has_spec || is_same_run(&k->spec, spec))
        return;
    k->is_proven = false;
    k->is_outdated = k->ident.pid || restart_is_in_progress(k);
}

void restart_on_limit(struct proc *k)
{
    note_up(k);
}

/* ---- when */

/* Not while the first start after hosting has not succeeded (is_owed). */
static bool is_fast(const struct proc *k)
{
    return k->is_proven && !k->is_owed && k->fast_tries < FAST_MAX;
}

bool restart_is_unlimited(const struct proc *k)
{
    bool is_patient = k->is_proven && !has_retries(k) && k->core->now_ms - k->up_ms < PATIENCE_MS;

    return k->spec.extra.keep_trying || is_patient;
}

static bool may_try(const struct proc *k)
{
    int64_t retries = proc_policy_of(&k->spec).start_retries;
    bool is_first = k->is_owed && !k->failed_ms;

    if (is_first || restart_is_unlimited(k))
        return true;
    return retries > 0 && (!k->failed_ms || is_fast(k) || k->tries < retries);
}

/* From the begin of the failed try to the next one; never shorter than start_interval. */
static int64_t interval_ms(const struct proc *k)
{
    int64_t first_s = proc_policy_of(&k->spec).start_interval_s, wait_s = first_s;
    int64_t most_s =
        k->spec.extra.max_interval_s > first_s ? k->spec.extra.max_interval_s : first_s;

    for (int64_t i = 0; k->spec.extra.keep_trying && i < k->tries && wait_s < most_s; i++)
        wait_s = 2 * wait_s < most_s ? 2 * wait_s : most_s;
    return wait_s * 1000;
}

/* A try whose probe failed began, too, though its command did not. */
static int64_t try_began_ms(const struct proc *k)
{
    return k->attempt_ms > k->tried_ms ? k->attempt_ms : k->tried_ms;
}

static int64_t next_try_ms(const struct proc *k)
{
    int64_t after_begin_ms = try_began_ms(k) + (is_fast(k) ? APART_MS : interval_ms(k));
    int64_t after_end_ms = is_fast(k) ? 0 : k->failed_ms + APART_MS;

    if (!k->failed_ms)
        return k->attempt_ms ? k->attempt_ms + APART_MS : k->core->now_ms;
    return after_begin_ms > after_end_ms ? after_begin_ms : after_end_ms;
}

static void restart_give_up(struct proc *k)
{
    k->hosted = false;
    k->cause.has_given_up = true;
    proc_enter(k, ACTUAL_GIVEN_UP);
    journal_note_process(k);
    core_tell_event(k, "process_cancel_restart",
                    "%s is no longer hosted: given up after %lld restarts", k->meta.name,
                    (long long)(k->fast_tries + k->tries));
    core_tell_process(k);
    order_on_change(k);
}

/* ---- the cells of proc_table.c */

static enum proc_actual state_at_rest(const struct proc *k)
{
    if (!k->hosted)
        return k->cause.has_given_up ? ACTUAL_GIVEN_UP : ACTUAL_DOWN;
    if (k->cause.has_finished)
        return ACTUAL_FINISHED;
    return k->is_denied ? ACTUAL_DENIED : ACTUAL_DOWN;
}

void restart_judge(struct proc *k)
{
    struct core *c = k->core;
    int64_t due_ms;

    if (!c->is_started)
        return;
    if (!restart_is_wanted(k)) {
        proc_enter(k, state_at_rest(k));
        return;
    }
    if (restart_is_in_progress(k) || *order_waits_for(k)) {
        proc_enter(k, ACTUAL_WAITING);
        return;
    }
    if (!may_try(k)) {
        restart_give_up(k);
        return;
    }
    due_ms = next_try_ms(k);
    if (due_ms <= c->now_ms) {
        restart_try(k);
        return;
    }
    k->cause.next_try_s = (c->wall_ms + due_ms - c->now_ms) / 1000;
    proc_enter(k, ACTUAL_BACKOFF);
    timers_set(&c->timers, &k->timer, due_ms);
}

void restart_on_found(struct proc *k)
{
    struct core *c = k->core;
    int64_t up_ms = k->begun_ms + up_after_ms(k);

    if (up_ms <= c->now_ms) {
        proc_enter(k, ACTUAL_UP);
        note_up(k);
        return;
    }
    proc_enter(k, ACTUAL_YOUNG);
    timers_set(&c->timers, &k->timer, up_ms);
}

void restart_on_up(struct proc *k)
{
    proc_enter(k, ACTUAL_UP);
    note_up(k);
}

/* The time of the last start counts for every start, requested or automatic. */
void restart_on_begun(struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    if (k->actual == ACTUAL_UP)
        k->up_ms = k->core->now_ms;
    if (!op_starts(op)) {
        proc_enter(k, ACTUAL_STOPPING);
        return;
    }
    proc_enter(k, ACTUAL_STARTING);
    k->attempt_ms = 0;
    k->is_outdated = k->has_ended_unseen = false;
    k->lived_ms = 0;
    if (!op_is_ours(op))
        k->is_proven = false; /* a start that was asked for has to prove itself */
    if (op->begun != BEGUN_BEFORE)
        k->tried_ms = k->core->now_ms;
}

static void leave_running(struct proc *k)
{
    proc_enter(k, restart_is_wanted(k) ? ACTUAL_WAITING : ACTUAL_DOWN);
}

void restart_on_up_end(struct proc *k)
{
    note_up(k);
    leave_running(k);
}

/* The process has exited as its spec allows, and not by request: an operation in progress, if
 * any, is a start. */
static bool is_expected_end(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return restart_is_wanted(k) && proc_exit_is_expected(&k->spec.extra, (int)k->cause.exit_code) &&
           (!is_acted_on(k) || (op_is_ours(op) && op->command.op == PROC_OP_START));
}

/* A run that ended while no agent ran is no failure; nor is one whose exit is not known yet. */
static bool is_failure(const struct proc *k)
{
    return core_is_same(k->exited, k->last) && !k->has_ended_unseen && !is_expected_end(k);
}

/* The timer may be late. */
void restart_on_young_end(struct proc *k)
{
    if (k->has_ended_unseen)
        ; /* what it has lived is not known */
    else if (k->lived_ms >= up_after_ms(k))
        note_up(k);
    else if (is_failure(k))
        restart_on_failure(k);
    leave_running(k);
}

/* For our own operations restart_on_done() and others do that. */
static void note_start_that_failed(struct proc *k, const struct op *op)
{
    if (k->actual != ACTUAL_STARTING || op_is_ours(op) || op->result.code == CODE_OK ||
        op->result.code == CODE_CANCELLED)
        return;
    if (k->lived_ms >= up_after_ms(k))
        note_up(k);
    else
        restart_on_failure(k);
}

void restart_settle(struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    if (op && op_is_acting(op))
        return;
    if (k->ident.pid) {
        restart_on_found(k);
        return;
    }
    if (op)
        note_start_that_failed(k, op);
    restart_judge(k);
}

static void on_timer(void *arg)
{
    proc_step(arg, PROC_EVENT_TIMER);
}

void restart_init(struct proc *k)
{
    timer_init(&k->timer, on_timer, k);
}

void restart_evaluate(struct proc *k)
{
    order_on_change(k);
    limit_look(k);
    cycle_look(k);
    health_look(k);
    if (k->core->is_started)
        proc_step(k, PROC_EVENT_CHANGED);
}

/* ---- restarts */

/* Queued before all others: requested operations wait, or it was in progress when the previous
 * agent died. */
struct op *op_new_ours(struct proc *k, int64_t number, enum op_origin origin)
{
    const struct message_command command = {
        .task = "",
        .op = number,
        .meta = k->meta,
        .spec = k->spec,
    };
    struct op *op = op_new(k->core, &command);

    op->origin = origin;
    op->is_durable = true; /* it has no client, so it needs no journal record */
    TAILQ_REMOVE(&k->ops, op, link);
    TAILQ_INSERT_HEAD(&k->ops, op, link);
    return op;
}

static struct op *new_restart(struct proc *k)
{
    return op_new_ours(k, *k->spec.control.start_cmd ? PROC_OP_START : PROC_OP_RESTART,
                       ORIGIN_RESTART);
}

int restart_resumed_half(const struct proc *k)
{
    return !*k->spec.control.restart_cmd && k->ident.pid && !core_is_same(k->run, k->start)
               ? HALF_STOP
               : HALF_START;
}

static struct op *resume_health(struct proc *k)
{
    struct op *op = op_new_ours(k, PROC_OP_RESTART, ORIGIN_HEALTH);

    op->half = restart_resumed_half(k);
    return op;
}

void restart_resume(struct proc *k)
{
    struct op *op = k->run_origin == ORIGIN_LIMIT    ? limit_resume(k)
                    : k->run_origin == ORIGIN_CYCLE  ? cycle_resume(k)
                    : k->run_origin == ORIGIN_HEALTH ? resume_health(k)
                    : k->run_origin >= ORIGIN_FILE   ? filewatch_resume(k)
                                                     : new_restart(k);

    op->begun = BEGUN_BEFORE;
    op->run = k->run;
    op->is_preparing = k->run_prepares;
}

/* Only a try that follows a failure counts. */
static void count_try(struct proc *k)
{
    if (k->failed_ms && is_fast(k))
        k->fast_tries++;
    else if (k->failed_ms)
        k->tries++;
}

/* Nothing had to be done, or nothing was done. */
static void uncount_try(struct proc *k)
{
    if (k->tries)
        k->tries--;
    else if (k->fast_tries)
        k->fast_tries--;
}

void restart_try(struct proc *k)
{
    if (!restart_is_wanted(k) || restart_is_in_progress(k) || !order_may_start(k)) {
        proc_enter(k, restart_is_wanted(k) ? ACTUAL_WAITING : state_at_rest(k));
        return;
    }
    proc_enter(k, ACTUAL_WAITING); /* for its probe, and for a slot */
    k->has_ended_unseen = false;   /* no failure, but the tries still count */
    k->attempt_ms = k->core->now_ms;
    k->lived_ms = 0;
    count_try(k);
    new_restart(k);
    op_begin_next(k);
}

bool restart_for_health(struct proc *k)
{
    if (!restart_is_wanted(k) || restart_is_in_progress(k))
        return false;
    op_new_ours(k, PROC_OP_RESTART, ORIGIN_HEALTH);
    op_begin_next(k);
    return true;
}

/* While its start command lives it may have been a helper of the same name. */
static void note_expected_end(struct proc *k)
{
    k->may_finish = core_has_living_start(k);
    k->cause.has_finished = !k->may_finish;
}

void restart_on_exit(struct proc *k)
{
    if (is_expected_end(k))
        note_expected_end(k);
    journal_note_process(k);
    core_tell_process(k);
    restart_evaluate(k);
}

/* It was up, and completed before the final check. */
static bool has_come_to_its_end(struct proc *k, int code)
{
    if (code != CODE_CHECK || !k->cause.has_finished)
        return false;
    cause_on_success(k);
    k->cause.has_finished = true;
    return true;
}

/* What it has lived since the start, whether it still runs or not. */
static int64_t lived_ms(const struct proc *k)
{
    return k->ident.pid ? k->core->now_ms - k->begun_ms : k->lived_ms;
}

void restart_count(struct proc *k)
{
    k->restarts++;
    k->core->restarted++;
    rate_on_restart(k);
}

/* ---- the event about an exit */

void restart_note_exit(struct proc *k)
{
    const struct core *c = k->core;
    const struct op *op = TAILQ_FIRST(&k->ops);
    bool runs = k->actual == ACTUAL_YOUNG || k->actual == ACTUAL_UP;

    k->has_ended_unseen = k->begun_ms < c->started_ms && c->now_ms - c->started_ms <= UNSEEN_MS;
    k->has_exit_news = core_is_known(k) && is_resident(k) &&
                       (runs || (k->actual == ACTUAL_STARTING && op && op_is_ours(op)));
}

static const char *how_it_ended(const struct proc_cause *c, char *to, size_t size)
{
    if (c->exit_oom)
        return MSG("killed because memory ran out (OOM)");
    if (c->exit_oom_perhaps)
        return MSG("killed by SIGKILL, perhaps because memory ran out (OOM)");
    if (c->exit_signal && c->exit_core)
        msg_printf(to, size, "killed by signal %lld, a core was dumped", (long long)c->exit_signal);
    else if (c->exit_signal)
        msg_printf(to, size, "killed by signal %lld", (long long)c->exit_signal);
    else if (c->exit_code >= 0)
        msg_printf(to, size, "exit code %lld", (long long)c->exit_code);
    else
        return MSG("exit code unknown");
    return to;
}

static const char *what_comes_next(const struct proc *k, char *to, size_t size)
{
    int64_t left_ms = k->timer.due_ms - k->core->now_ms;

    switch (k->actual) {
    case ACTUAL_BACKOFF:
        msg_printf(to, size, "it is restarted in %lld s", (long long)(left_ms + 999) / 1000);
        return to;
    case ACTUAL_WAITING:
    case ACTUAL_STARTING:
    case ACTUAL_YOUNG:
    case ACTUAL_UP: return MSG("it is restarted now");
    case ACTUAL_FINISHED: return MSG("it has completed, and is not restarted");
    case ACTUAL_DENIED: return MSG("the policy of the host forbids to restart it");
    case ACTUAL_GIVEN_UP: return MSG("no restart is left, so it is no longer hosted");
    case ACTUAL_DOWN:
    case ACTUAL_STOPPING:
    case PROC_STATES: break;
    }
    return k->hosted ? MSG("it is not restarted") : MSG("it is not hosted, and is not restarted");
}

void restart_tell_exit(struct proc *k)
{
    const struct proc_cause *c = &k->cause;
    char how[200], next[200];

    if (!k->has_exit_news)
        return;
    k->has_exit_news = false;
    if (c->output && *c->output)
        core_tell_event(k, "process_exited", "%s (pid %lld) has ended: %s; %s; its last output: %s",
                        k->meta.name, (long long)c->exit_pid, how_it_ended(c, how, sizeof(how)),
                        what_comes_next(k, next, sizeof(next)), c->output);
    else
        core_tell_event(k, "process_exited", "%s (pid %lld) has ended: %s; %s", k->meta.name,
                        (long long)c->exit_pid, how_it_ended(c, how, sizeof(how)),
                        what_comes_next(k, next, sizeof(next)));
}

/* Its start command has brought no other process. */
static void end_finished(struct proc *k)
{
    uncount_try(k);
    k->cause.has_finished = true;
    k->may_finish = false;
    journal_note_process(k);
    core_tell_process(k);
    op_begin_next(k);
}

/* 828: the process was running.  A run that was up was restarted, also if it has ended before the
 * check, or is not ready yet. */
void restart_on_done(struct proc *k, int code, const char *text)
{
    bool was_up = code != CODE_RUNNING && code != CODE_DENIED && lived_ms(k) >= up_after_ms(k);
    bool is_success = code == CODE_OK || has_come_to_its_end(k, code);

    k->run = (struct core_ident){ 0 };
    if (code == CODE_CANCELLED) {
        end_finished(k);
        return;
    }
    k->is_denied = code == CODE_DENIED;
    if (is_success || (was_up && !k->ident.pid)) {
        core_tell_event(k, "process_restart_success",
                        "check %s not running, and restart it success", k->meta.name);
    } else if (code != CODE_RUNNING) {
        core_tell_event(k, "process_restart_failed",
                        "check %s not running, and restart it failed: %s", k->meta.name, text);
    }
    if (is_success || was_up)
        restart_count(k);
    if (code == CODE_RUNNING || code == CODE_DENIED)
        uncount_try(k);
    else if (was_up && !k->ident.pid)
        note_up(k);
    else if (code != CODE_OK && !k->ident.pid && !k->cause.has_finished && !k->has_ended_unseen)
        restart_on_failure(k);
    journal_note_process(k);
    core_tell_process(k);
    op_begin_next(k);
}

/* A forbidden process may be allowed now. */
void core_on_policy(struct core *c, int64_t now_ms)
{
    struct map_entry *e;

    c->now_ms = now_ms;
    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        struct proc *k = e->value;

        if (!k->is_denied)
            continue;
        k->is_denied = false;
        restart_evaluate(k);
    }
}
