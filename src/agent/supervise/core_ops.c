/* SPDX-License-Identifier: MIT */
/* core_ops.c - the phases of an operation.
 *
 * The operations are defined in one table (core_rules.c).  Each input that a phase waits for has
 * a function op_on_*() below.  core_run.c runs the command, core_end.c ends the operation. */
#include <signal.h>
#include <stdlib.h>

#include "agent/supervise/core_cancel.h"
#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_claim.h"
#include "agent/supervise/core_health.h"
#include "agent/supervise/core_ready.h"
#include "agent/supervise/core_step.h"
#include "base/mem/mem.h"
#include "model/operation.h"
#include "model/why_write.h"

/* The time that a process gets for a reload. */
enum { RELOAD_MS = 1000 };

/* The interval of find_run() calls for a command of a previous agent, until the answer is known. */
enum { FIND_AGAIN_MS = 100 };

void op_set_timer(struct op *op, int64_t in_ms)
{
    timers_set(&op->core->timers, &op->timer, op->core->now_ms + in_ms);
}

int64_t op_timeout_ms(const struct op *op)
{
    return proc_policy_of(&op->command.spec).op_timeout_s * 1000;
}

/* The process that may be the wanted one: the reported main process, or the command. */
static struct core_ident self_of(const struct op *op)
{
    struct core_ident main = ready_main(op);

    if (op->phase == PHASE_CLEAR)
        return op->proc->last_start;
    if (main.pid)
        return main;
    return op->phase == PHASE_RUN ? op->run : main;
}

/* The first start after hosting does not count: the process may have been started by other means
 * since it was stopped. */
static bool is_restart(const struct op *op)
{
    return op_is_ours(op) && op->origin == ORIGIN_RESTART && !op->proc->is_owed;
}

static bool is_in_doubt(const struct proc *k)
{
    return k->is_unseen || k->core->now_ms < k->doubt_ms;
}

/* Whether this is an automatic restart of a process that is known to have ended, so another
 * process of its name does not match. */
static bool replaces_ended(const struct op *op)
{
    return is_restart(op) && op->proc->start.pid && !is_in_doubt(op->proc);
}

/* Whether it follows a run of which something may be left: a survivor is never the new main
 * process, only because it has the right name. */
static bool follows_run(const struct op *op)
{
    return is_restart(op) && op->proc->is_after_run;
}

/* What is left is ended before the process is looked for; but for the first time after the start of
 * an agent: the one before may have restarted the process and not been able to write that down, for
 * want of space.  Such a process leads its session, which a survivor hardly does. */
static bool replaces_ended_run(const struct op *op)
{
    return follows_run(op) && !is_in_doubt(op->proc);
}

/* Then only the pid file may name a new main process, because what is left may have the name, too,
 * and not all of it is ended. */
static bool is_by_pid_file(const struct op *op, enum ask ask)
{
    return ask == ASK_PID_FILE ||
           (op->phase == PHASE_LOOK && replaces_ended_run(op) && op_instances(op) < 2);
}

/* After a start or restart command the process may be another one than before.  A process found
 * by a peek does not answer whether the start succeeded. */
void op_ask_who(struct op *op, enum ask ask)
{
    const struct proc *k = op->proc;
    bool is_for_show = ask == ASK_PEEK || ask == ASK_PID_FILE || ready_is_missing(op);
    const struct core_look look = {
        .id = op->id,
        .question = ++op->questions,
        .space = k->meta.space,
        .name = k->meta.name,
        .identity = &op->command.spec.identity,
        .known = ask == ASK_PID_FILE                         ? (struct core_ident){ 0 }
                 : op->phase == PHASE_CHECK && op_starts(op) ? op->old
                                                             : k->ident,
        .start = k->start,
        .self = ask == ASK_PID_FILE ? (struct core_ident){ 0 } : self_of(op),
        .may_be_replaced = op->phase == PHASE_LOOK || op->phase == PHASE_CHECK,
        .is_renewed = op->phase != PHASE_LOOK && op_starts(op),
        .is_doubtful = is_in_doubt(k),
        .is_of_start = replaces_ended(op),
        .is_leader = op->phase == PHASE_LOOK && follows_run(op),
        .instances = op_instances(op),
        .is_untrusted = op->command.look == LOOK_UNCHECKED,
        .is_peek = is_for_show,
        .by_pid_file = is_by_pid_file(op, ask),
        .wants_view = operation_has_kind(op->command.op, ONLY_LOOKS),
        .since_ms = op->phase == PHASE_LOOK && op->asked_ms ? op->asked_ms : op->core->now_ms,
        .unchecked = op->is_unchecked ? &op->command.spec : NULL,
        .unchecked_lines = op->is_unchecked ? op_policy_lines(op) : NULL,
    };

    op->asked = ask;
    op->core->effects->probe(op->core->arg, &look);
}

void op_check(struct op *op)
{
    op_enter(op, PHASE_CHECK);
    op_set_timer(op, op_timeout_ms(op));
    op_ask_who(op, ASK_FOR_GOOD);
}

/* ---- results of the first probe */

static void end_unsure(struct op *op, const struct core_probe *probe)
{
    op->reason = arena_strdup(&op->arena, probe->why);
    op_end(op, CODE_MATCH, "process (%s) can not be identified: %s", op->proc->meta.name,
           probe->why);
}

/* A start of a running process stores its spec and hosts it; the process continues as it was
 * started. */
static void end_running(struct op *op, int64_t pid)
{
    bool is_stored = op_store_spec(op), is_hosted = op_host_running(op);
    const char *name = op->proc->meta.name;

    if (!is_stored && !is_hosted) {
        op_end_claimed(op, pid);
        return;
    }
    cause_on_success(op->proc);
    journal_note_process(op->proc);
    if (!is_hosted)
        op_end(op, CODE_OK,
               "process (%s) is already running with pid %lld; the new spec is stored and used at "
               "its next start",
               name, (long long)pid);
    else if (!is_stored)
        op_end(op, CODE_OK,
               "process (%s) is already running with pid %lld; it is hosted from now on", name,
               (long long)pid);
    else
        op_end(op, CODE_OK,
               "process (%s) is already running with pid %lld; it is hosted from now on, and the "
               "new spec is stored and used at its next start",
               name, (long long)pid);
}

/* A stop of a process that is down may end its automatic restarts, which is a change. */
static void end_not_running(struct op *op)
{
    const char *why = op->why_down ? op->why_down : "";
    const struct operation *o = op_row(op);
    struct proc *k = op->proc;
    bool ends_tries = op->command.ends_tries && o->outcome == MAKES_STOP && k->hosted;

    if (o->outcome == MAKES_STOP && !op_is_ours(op))
        op_stop_hosting(op);
    if (ends_tries) {
        cause_on_success(k);
        journal_note_process(k);
        op_end(op, CODE_OK, "process (%s) was not running; it is not started again", k->meta.name);
        return;
    }
    if (op->clear.begun_ms && op->command.ends_tries)
        op_end(op, CODE_OK, "process (%s) was not running; what was left of it has been ended",
               k->meta.name);
    else if (op->clear.begun_ms)
        op_end(op, o->if_stopped, "process (%s) is not running; what was left of it has been ended",
               k->meta.name);
    else if (*why)
        op_end(op, o->if_stopped, "process (%s) is not running: %s", k->meta.name, why);
    else
        op_end(op, o->if_stopped, "process (%s) is not running", k->meta.name);
}

void op_end_down(struct op *op)
{
    end_not_running(op);
}

/* What an earlier run left would be in the way of the next one.  An automatic start that another
 * name is ahead of is tried again a second later. */
static void begin_start(struct op *op)
{
    if (op_is_ours(op) && claim_is_being_started(op))
        op_end(op, CODE_RUNNING, "process (%s) is being started under another name",
               op->proc->meta.name);
    else if (!op_clear(op, CLEAR_THEN_START))
        op_begin_part(op);
}

static void looked(struct op *op, const struct core_probe *probe)
{
    const struct operation *o = op_row(op);
    bool runs = probe->found == FOUND_IT;

    if (probe->found == FOUND_UNSURE) {
        end_unsure(op, probe);
    } else if (o->kind == ONLY_LOOKS) {
        op_end_query(op, probe);
    } else if (runs && op->origin == ORIGIN_LIMIT && !core_is_same(probe->ident, op->old)) {
        op_end(op, CODE_NOT_RUNNING, "the one that used too much has ended");
    } else if (runs && (o->if_running || (op_is_ours(op) && (op->origin == ORIGIN_RESTART ||
                                                             op->origin == ORIGIN_CYCLE)))) {
        end_running(op, probe->ident.pid);
    } else if (!runs && o->if_stopped) {
        op->why_down = arena_strdup(&op->arena, probe->why ? probe->why : "");
        if (o->outcome != MAKES_STOP || !op_clear(op, CLEAR_THEN_SAY_DOWN))
            end_not_running(op);
    } else if (!runs || o->hosting != HOSTING_BEGINS || op_claim(op, probe->ident)) {
        op->half = o->replaces && runs && !*operation_line(&o->command, &op->command.spec.control)
                       ? HALF_STOP
                       : HALF_START;
        if (runs || !op_starts(op))
            op_begin_part(op);
        else
            begin_start(op);
    }
}

/* Probes for display while the process settles: a daemon may be slow to write its pid file, or
 * may have been found while it was still forking. */
static void watch_settling(struct op *op)
{
    int64_t left_ms = op->check_ms - op->core->now_ms;
    int64_t peek_ms = op->seen.pid ? PEEK_MS : FIRST_PEEK_MS;

    op_set_timer(op, op_starts(op) && left_ms > peek_ms ? peek_ms : left_ms);
    if (op_starts(op) && !(op->ready && op->proc->ident.pid))
        op_ask_who(op, ASK_PEEK);
}

void op_give_time_to_settle(struct op *op)
{
    struct proc_policy policy = proc_policy_of(&op->command.spec);
    int64_t settle_ms = RELOAD_MS;

    op->check_until_ms = op->core->now_ms + proc_check_end_s(&op->command.spec) * 1000;
    if (op_part(op)->outcome == MAKES_RUN)
        settle_ms = policy.start_check_s * 1000;
    else if (op_part(op)->outcome == MAKES_STOP)
        settle_ms = policy.stop_check_s * 1000;
    op_enter(op, PHASE_SETTLE);
    ready_settle(op);
    op->check_ms = op->ready ? INT64_MAX : op->core->now_ms + settle_ms;
    watch_settling(op);
}

/* ---- start of an operation */

/* The effect of a reload cannot be observed, nor that of a process that is not meant to stay. */
static bool leaves_no_trace(const struct op *op)
{
    const struct operation *o = op_row(op);

    return (o->kind == ACTS_ON_PROCESS && o->outcome == LEAVES_AS_IS) || op_is_once(op);
}

/* The agent may have died after it started the command and before it recorded the pid.  Returns
 * false while this cannot be determined, so that no second command is started beside it.  If it
 * cannot be determined within the timeout of the command, the command counts as not running. */
static bool find_begun(struct op *op)
{
    const struct core *c = op->core;
    const struct core_run run = { .space = op->proc->meta.space,
                                  .name = op->proc->meta.name,
                                  .spec = &op->command.spec,
                                  .mark = op->run.start_ticks };
    struct core_ident found;
    enum core_begun begun = BEGUN_NOT;

    if (op->run.pid < 0 && run.mark && c->effects->find_run)
        begun = c->effects->find_run(c->arg, &run, &found);
    if (begun == BEGUN_UNKNOWN && c->now_ms < op->run_end_ms)
        return false;
    if (begun != BEGUN_RUNS)
        return true;
    op->run = found;
    if (op_starts(op))
        op_note_start(op);
    journal_note_run(op);
    return true;
}

/* The deadline also applies while the first probe has no answer. */
static void look_for(struct op *op, enum ask ask)
{
    op_enter(op, PHASE_LOOK);
    if (!op_is_ours(op))
        op_set_timer(op, op->deadline_ms - op->core->now_ms);
    op_ask_who(op, ask);
}

static void look_first(struct op *op)
{
    look_for(op, ASK_FOR_GOOD);
}

/* It may or may not have started: wait for its full timeout. */
static void await_unknown(struct op *op)
{
    op->run = (struct core_ident){ 0 };
    op_enter(op, PHASE_SETTLE);
    ready_settle(op);
    op->check_ms = op->ready ? INT64_MAX : 0;
    op_set_timer(op, op->ready ? PEEK_MS : op_timeout_ms(op));
}

/* The agent died while this was executed: it is not run again, its outcome is observed. */
void op_resume(struct op *op)
{
    if (op->begun != BEGUN_RESUMED)
        op->run_end_ms = op->core->now_ms + op_timeout_ms(op);
    op->is_unchecked = false;
    if (op->begun != BEGUN_RESUMED)
        op_tell_begun(op);
    op->begun = BEGUN_RESUMED;
    if (!find_begun(op)) {
        op_enter(op, PHASE_FIND);
        op_set_timer(op, FIND_AGAIN_MS);
        return;
    }
    op_note_old(op);
    if (op->is_preparing)
        op_resume_preparing(op);
    else if (op->run.pid <= 0 && leaves_no_trace(op))
        op_end(op, CODE_SYSTEM, "agent restarted during the command, outcome unknown");
    else if (op->run.pid < 0)
        await_unknown(op);
    else if (op->run.pid)
        op_adopt(op);
    else if (op_row(op)->outcome == LEAVES_AS_IS)
        look_first(op);
    else if (!*op_line(op) && op->proc->ident.pid)
        op_await_death(op);
    else
        op_give_time_to_settle(op); /* it may just have started, or be about to end */
}

void op_wait_for_slot(struct op *op, bool goes_first)
{
    op_enter(op, PHASE_QUEUE);
    if (!op_is_ours(op) && !op_has_acted(op))
        op_set_timer(op, op->deadline_ms - op->core->now_ms);
    op_queue_enter(op, goes_first);
}

/* The process has ended as its spec allows, and its start command brings no other one. */
static bool has_finished(const struct op *op)
{
    return follows_run(op) && op->proc->may_finish &&
           (op->is_cleared || !core_has_living_start(op->proc));
}

void op_on_slot(struct op *op, const struct op_input *in)
{
    (void)in;
    if (!op_has_acted(op) && has_finished(op)) {
        op_end(op, CODE_CANCELLED, "it has completed, and is not restarted");
        return;
    }
    if (!op_has_acted(op)) {
        if (!replaces_ended_run(op) || !op_clear(op, CLEAR_THEN_START))
            look_first(op);
        return;
    }
    op->half = HALF_START; /* the process is down */
    begin_start(op);
}

void op_on_deadline(struct op *op, const struct op_input *in)
{
    (void)in;
    op_end(op, CODE_TIMEOUT, "not begun: its deadline passed while it waited");
}

/* If the first start of a process failed, its spec is not used; the error says so. */
static void end_lacking(struct op *op, int lacks, const char *what)
{
    const struct proc *k = op->proc;
    const struct proc_cause *c = &k->cause;

    if ((lacks == CODE_NO_COMMAND || lacks == CODE_NOT_REGISTERED) &&
        k->wanted == PROC_UNREGISTERED && c->failed_s > 0 && c->failed_text)
        op_end(op, lacks, "%s; the last %s failed, so its spec was not kept: %s (%lld)", what,
               why_op_name(c->failed_op, LANG_EN), c->failed_text, (long long)c->failed_code);
    else
        op_end(op, lacks, "%s", what);
}

void op_on_turn(struct op *op, const struct op_input *in)
{
    const struct operation *o = op_row(op);
    const char *what;
    int lacks;

    (void)in;
    op_use_known_spec(op);
    lacks = op_lacks(op, &what);
    if (!o)
        op_end(op, CODE_UNKNOWN_OP, "op_type %lld: no such operation", (long long)op->command.op);
    else if (op->begun == BEGUN_BEFORE && o->kind != CHANGES_HOSTING)
        op_resume(op);
    else if (!op_is_ours(op) && op->core->now_ms >= op->deadline_ms)
        op_on_deadline(op, in);
    else if (lacks)
        end_lacking(op, lacks, what);
    else if (o->hosting == HOSTING_BEGINS && o->kind == CHANGES_HOSTING && claim_is_possible(op))
        look_for(op, ASK_PID_FILE);
    else if (o->kind == CHANGES_HOSTING && !op->is_unchecked)
        op_set_hosting(op);
    else if (o->kind == ONLY_LOOKS || o->kind == CHANGES_HOSTING)
        look_first(op);
    else
        op_wait_for_slot(op, op_goes_first(op));
}

void op_begin_next(struct proc *k)
{
    struct op *op = TAILQ_FIRST(&k->ops);

    if (!op && !core_is_known(k))
        core_forget(k);
    else if (!op)
        restart_evaluate(k);
    else if (op->phase == PHASE_QUEUE)
        op_queue_grant(k->core); /* a restart was queued before it */
    else if (op->phase == PHASE_JOURNAL && op->is_durable) {
        proc_step(k, PROC_EVENT_CHANGED); /* the operation before it is over */
        op_step(op, OP_TURN, NULL);
    }
}

/* ---- inputs */

/* A process that was found by its identity must also be known after a crash of the agent. */
void op_note_found(struct proc *k, struct core_ident ident)
{
    bool is_new = !core_is_same(ident, k->ident);

    if (is_new && k->ident.pid && ident.pid && k->actual != ACTUAL_STARTING)
        core_tell_event(k, "process_main_changed", "the main process of %s is pid %lld now",
                        k->meta.name, (long long)ident.pid);

    core_set_ident(k, ident);
    if (is_new && core_is_known(k))
        journal_note_process(k);
}

/* Whether the process stays is checked later; meanwhile the operation needs no slot. */
void op_on_peek(struct op *op, const struct core_probe *probe)
{
    op->seen = probe->ident;
    op_note_found(op->proc, probe->ident);
    op_note_begin(op, probe->ident);
    core_tell_change(op->proc);
    op_queue_leave(op);
}

/* The process is not up yet; the request may allow more time, with repeated probes (Job's
 * start_check_end_time). */
static bool looks_again(struct op *op)
{
    int64_t left_ms = op->check_until_ms - op->core->now_ms;

    if (!op_starts(op) || left_ms <= 0)
        return false;
    op_enter(op, PHASE_SETTLE);
    op->check_ms = op->core->now_ms + (left_ms < PEEK_MS ? left_ms : PEEK_MS);
    op_set_timer(op, op->check_ms - op->core->now_ms);
    return true;
}

static void fail_check(struct op *op, const struct core_probe *probe)
{
    if (probe->found == FOUND_UNSURE)
        end_unsure(op, probe);
    else
        op_fail_check(op, probe->why);
}

void op_on_looked(struct op *op, const struct op_input *in)
{
    const struct core_probe *probe = in->probe;

    op->asked = ASK_NOTHING;
    op->is_unchecked &= probe->found == FOUND_DENIED;
    if (probe->found == FOUND_DENIED) {
        op_end(op, CODE_DENIED, "%s", probe->why);
    } else if (op_row(op)->kind == CHANGES_HOSTING) {
        if (op_claim(op, probe->found == FOUND_IT ? probe->ident : op->proc->ident))
            op_set_hosting(op);
    } else if (op->command.look == LOOK_UNCHECKED) {
        op_end_unchecked(op, probe);
    } else {
        op->proc->is_unseen = false;
        op_note_found(op->proc, probe->found == FOUND_IT ? probe->ident : (struct core_ident){ 0 });
        looked(op, probe);
    }
}

void op_on_settle_probed(struct op *op, const struct op_input *in)
{
    enum ask asked = op->asked;

    op->asked = ASK_NOTHING;
    if (asked == ASK_PID_FILE)
        ready_on_file(op, in->probe);
    else if (in->probe->found == FOUND_IT && op_starts(op))
        op_on_peek(op, in->probe);
    if (asked != ASK_PID_FILE)
        op_tell_instead(op, in->probe);
}

void op_on_checked(struct op *op, const struct op_input *in)
{
    const struct core_probe *probe = in->probe;
    bool runs = probe->found == FOUND_IT;

    op->asked = ASK_NOTHING;
    op->proc->is_unseen = false;
    if (op->ready)
        ready_on_check(op, probe);
    else if (runs == (op_part(op)->outcome != MAKES_STOP))
        op_succeed(op, probe->ident);
    else if (looks_again(op))
        op_tell_instead(op, probe);
    else
        fail_check(op, probe);
}

void op_before_exit(struct op *op, struct core_ident ident)
{
    if (op->before || !core_is_same(ident, op->seen))
        return;
    op->before = arena_alloc(&op->arena, sizeof(*op->before));
    *op->before = op->proc->cause;
    if (op->before->output)
        op->before->output = arena_strdup(&op->arena, op->before->output);
}

void op_on_died(struct op *op, const struct op_input *in)
{
    (void)in;
    op_succeed(op, (struct core_ident){ 0 });
}

void op_on_settle_exited(struct op *op, const struct op_input *in)
{
    const struct proc_cause *cause = &op->proc->cause;
    bool is_bad = cause->exit_signal || cause->exit_code > 0;

    if (op_part(op)->outcome == MAKES_STOP)
        op_on_died(op, in);
    else if (op->ready)
        ready_on_exit(op);
    else if (is_bad && op_starts(op) && core_is_same(op->proc->exited, op->seen))
        op_check(op); /* it was no launcher: nothing comes after it */
}

/* ---- timers */

void op_on_look_timer(struct op *op, const struct op_input *in)
{
    (void)in;
    if (op->is_unchecked)
        op_end(op, CODE_TIMEOUT,
               "policy.paths: the paths of the process do not answer, and can not be checked");
    else
        op_end(op, CODE_TIMEOUT, "not begun: the probe did not answer in time");
}

void op_on_find_timer(struct op *op, const struct op_input *in)
{
    (void)in;
    op_resume(op);
}

void op_on_settle_timer(struct op *op, const struct op_input *in)
{
    (void)in;
    if (op->core->now_ms < op->check_ms)
        watch_settling(op);
    else
        op_check(op);
}

void op_on_check_timer(struct op *op, const struct op_input *in)
{
    (void)in;
    op_end(op, CODE_SYSTEM, "its command was run, but the probe did not answer in time");
}

/* An operation that takes long is reported as in progress. */
static void tell_doing(struct op *op)
{
    if (!op->is_told)
        core_tell_process(op->proc);
    op->is_told = true;
}

static void ops_on_timer(void *arg)
{
    struct op *op = arg;

    if (op->phase != PHASE_JOURNAL && op->phase != PHASE_QUEUE)
        tell_doing(op);
    op_step(op, OP_TIMER, NULL);
}

/* ---- the journal */

/* It may wait long for its turn, but not beyond its deadline. */
void op_on_accepted(struct op *op, const struct op_input *in)
{
    struct core *c = op->core;
    const struct message_ref ref = { op->command.task, op->command.item };

    (void)in;
    op->is_durable = true;
    c->effects->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
    if (op_is_cancelled(op) && op->begun != BEGUN_BEFORE) {
        op_end_cancelled(op);
        return;
    }
    if (op->fate == FATE_REFUSED) {
        op_end(op, CODE_LOCKED, "too many operations wait for this process");
        return;
    }
    if (TAILQ_FIRST(&op->proc->ops) != op && op->begun != BEGUN_BEFORE)
        op_set_timer(op, op->deadline_ms - c->now_ms);
    op_begin_next(op->proc);
}

void op_on_result_durable(struct op *op, const struct op_input *in)
{
    struct proc *k = op->proc;

    (void)in;
    journal_note_done(op->core, &op->result, op->deadline_ms);
    op_free(op);
    op_begin_next(k);
}

/* ---- life cycle */

struct op *op_new(struct core *c, const struct message_command *command)
{
    struct op *op = pool_get(&c->ops);
    struct proc *k = core_proc(c, command->meta.space, command->meta.name);

    arena_init_in(&op->arena, op + 1, OP_BYTES - sizeof(*op));
    op->core = c;
    op->proc = k;
    op->id = ++c->next_id;
    op->status = CORE_STATUS_UNKNOWN;
    op->command = *command;
    op->command.task = arena_strdup(&op->arena, command->task);
    op->command.signal =
        command->signal && *command->signal ? arena_strdup(&op->arena, command->signal) : "";
    op->command.meta = k->meta;
    proc_spec_copy(&command->spec, &op->arena, &op->command.spec);
    timer_init(&op->timer, ops_on_timer, op);
    TAILQ_INSERT_TAIL(&k->ops, op, link);
    map_put(&c->by_id, (const char *)&op->id, sizeof(op->id), op);
    op->key = arena_printf(&op->arena, "%s#%lld", command->task, (long long)command->item);
    if (*op->command.task)
        map_put_str(&c->commands, op->key, op);
    return op;
}

void op_free(struct op *op)
{
    timers_stop(&op->core->timers, &op->timer);
    ready_end(op);
    health_forget(op->proc, op);
    op_queue_drop(op);
    TAILQ_REMOVE(&op->proc->ops, op, link);
    map_del(&op->core->by_id, (const char *)&op->id, sizeof(op->id));
    if (*op->command.task)
        map_del_str(&op->core->commands, op->key);
    cause_set_text(&op->found, NULL);
    cause_set_text(&op->instead, NULL);
    arena_free(&op->arena);
    pool_put(&op->core->ops, op);
}
