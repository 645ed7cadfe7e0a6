/* SPDX-License-Identifier: MIT */
/* core_run.c - the command or signal of an operation: start, end, timeout. */
#include <signal.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_cycle.h"
#include "agent/supervise/core_ready.h"
#include "agent/supervise/core_step.h"
#include "model/operation.h"
#include "model/signal.h"

/* The time a process gets to die of SIGKILL before the next probe. */
enum { KILL_MS = 5000 };

/* The interval of checks for a command that has not started yet (its user is being looked up). */
enum { AGAIN_MS = 200 };

bool op_may_stay(const struct op *op)
{
    return op_starts(op) && proc_policy_of(&op->command.spec).kind == PROC_RESIDENT;
}

bool op_is_once(const struct op *op)
{
    return op_starts(op) && !op_may_stay(op);
}

static void watch_once(struct op *op)
{
    if (op_is_once(op))
        op->core->effects->watch(op->core->arg, op->run);
}

static void set_run_timer(struct op *op)
{
    int64_t timeout_ms = op_timeout_ms(op), check_ms = timeout_ms;

    if (op_may_stay(op))
        check_ms = proc_policy_of(&op->command.spec).start_check_s * 1000;
    check_ms = check_ms < timeout_ms ? check_ms : timeout_ms;
    op->run_end_ms = op->core->now_ms + timeout_ms;
    op->self_ms = op->core->now_ms + check_ms;
    op_set_timer(op, check_ms > FIRST_PEEK_MS ? FIRST_PEEK_MS : check_ms);
}

/* A restart command may keep the process and only reinitialise it. */
void op_note_old(struct op *op)
{
    if (op_part(op)->replaces)
        op->old = op->proc->ident;
}

static void set_prepare_timer(struct op *op)
{
    op->run_end_ms = op->core->now_ms + op_timeout_ms(op);
    op_set_timer(op, op_timeout_ms(op));
}

/* A number that no other command has, nor the pre-start command of the same operation.  It is
 * recorded with a pid of -1, in place of the start time. */
static int64_t new_mark(const struct op *op)
{
    int64_t wall_ms = op->core->wall_ms;

    if (wall_ms < 0 || wall_ms > INT64_MAX / 4096)
        wall_ms = 0;
    return wall_ms * 1024 + (int64_t)(op->id % 512) + (op->is_preparing ? 513 : 1);
}

static void op_note_begun(struct op *op)
{
    if (op->begun != BEGUN_RESUMED)
        op->begun = BEGUN_HERE;
}

/* A reload and the like do not change what the process does. */
void op_tell_begun(const struct op *op)
{
    if (op_part(op)->outcome != LEAVES_AS_IS)
        proc_step(op->proc, PROC_EVENT_BEGUN);
}

/* Of its first command: the one after the pre-start command is no other start. */
static void note_first(struct op *op)
{
    if (op->is_prepared)
        return;
    op_note_begun(op);
    op_note_old(op);
    cycle_on_begin(op);
    op_tell_begun(op);
}

static void start_run(struct op *op, const char *what, const char *line)
{
    struct core_run run = { .id = op->id,
                            .task = op->command.task,
                            .item = op->command.item,
                            .space = op->proc->meta.space,
                            .name = op->proc->meta.name,
                            .what = what,
                            .line = line,
                            .spec = &op->command.spec };

    run.mark = new_mark(op);
    op->run = (struct core_ident){ -1, run.mark };
    op->status = CORE_STATUS_UNKNOWN;
    note_first(op);
    journal_note_run(op);
    if (!core_is_known(op->proc))
        core_tell_process(op->proc); /* others are reported when there is an outcome */
    if (op->is_preparing) {
        set_prepare_timer(op);
    } else {
        set_run_timer(op);
        ready_begin(op);
    }
    op->core->effects->run(op->core->arg, &run);
}

/* The commands of a process that is started by start_cmd begin with this one. */
static bool is_to_be_prepared(const struct op *op)
{
    return !op->is_prepared && op_part(op)->number == PROC_OP_START &&
           *op->command.spec.extra.pre_start;
}

static void start_command(struct op *op, const char *line)
{
    op->is_preparing = is_to_be_prepared(op);
    if (op->is_preparing) {
        op_enter(op, PHASE_PREPARE);
        start_run(op, OPERATION_PRE_START, op->command.spec.extra.pre_start);
    } else {
        op_enter(op, PHASE_RUN);
        start_run(op, op_part(op)->name, line);
    }
}

/* Waits for the effect of a signal. */
void op_await_death(struct op *op)
{
    int64_t stop_s = op_part(op)->signal == SIGTERM ? op->command.spec.extra.stop_wait_s : 0;
    int64_t wait_ms = stop_s ? stop_s * 1000 : op_timeout_ms(op);

    ready_end(op); /* the journal may say that a start was begun, and its command is gone */
    op_enter(op, PHASE_DYING);
    op->check_ms = op->core->now_ms + wait_ms;
    op_set_timer(op, wait_ms > PEEK_MS ? PEEK_MS : wait_ms);
    op_queue_leave(op);
}

/* SIGKILL goes to its descendants as well. */
static void op_signal(const struct op *op, int number)
{
    const struct core *c = op->core;

    c->effects->signal(c->arg, op->proc->ident, number,
                       number == SIGKILL && !core_is_alone(c, &op->command.spec));
}

/* It might start the process again. */
static void end_start_command(struct op *op)
{
    const struct proc *k = op->proc;
    const struct core *c = op->core;
    const struct operation *part = op_part(op);

    if (part->outcome == MAKES_STOP && k->start.pid && k->ident.pid &&
        !core_is_same(k->start, k->ident) && !core_has_main(c, k->start) && c->effects->is_alive &&
        c->effects->is_alive(c->arg, k->start))
        c->effects->signal(c->arg, k->start, part->signal, false);
}

/* Not repeated: if the agent ends right now, the next one says that the outcome is unknown. */
static void deliver(struct op *op)
{
    const struct core *c = op->core;
    const struct proc *k = op->proc;
    struct err err;

    op_note_begun(op);
    journal_note_run(op);
    if (!c->effects->deliver(c->arg, k->ident, signal_number(op->command.signal), &err))
        op_succeed(op, k->ident);
    else if (err.code == ERR_NOT_FOUND)
        op_end(op, CODE_NOT_RUNNING, "process (%s) is not running", k->meta.name);
    else
        op_end(op, CODE_SYSTEM, "signal %s was not sent to pid %lld: %s", op->command.signal,
               (long long)k->ident.pid, err_msg(&err));
}

void op_begin_part(struct op *op)
{
    const struct operation *part = op_part(op);
    const char *line = op_line(op);
    int number = part->signal == SIGTERM ? (int)op->command.spec.extra.stop_signal : part->signal;

    if (part->takes_signal) {
        deliver(op);
        return;
    }
    end_start_command(op);
    if (*line) {
        start_command(op, line);
        return;
    }
    if (!part->signal) {
        op_end(op, CODE_NO_COMMAND, "spec.control.%s: required for this operation",
               part->command.name);
        return;
    }
    op_note_begun(op);
    op_tell_begun(op);
    journal_note_run(op);
    op->sent = number;
    op_signal(op, number);
    op_await_death(op);
}

static void adopt_as(struct op *op, const char *what)
{
    const struct core_adopt a = { op->id,  op->proc->meta.space, op->proc->meta.name, what,
                                  op->run, op->out_from };

    op->goes_first = op_goes_first(op);
    op_queue_seize(op);
    op->core->effects->adopt(op->core->arg, &a);
}

void op_adopt(struct op *op)
{
    op_enter(op, PHASE_RUN);
    set_run_timer(op);
    ready_begin(op);
    adopt_as(op, op_part(op)->name);
    watch_once(op);
}

/* If it has ended, its exit code is unknown.  The start command has not begun. */
void op_resume_preparing(struct op *op)
{
    if (op->run.pid <= 0) {
        op->run = (struct core_ident){ 0 };
        op_end(op, CODE_SYSTEM, "agent restarted during the pre-start command, outcome unknown");
        return;
    }
    op_enter(op, PHASE_PREPARE);
    set_prepare_timer(op);
    adopt_as(op, OPERATION_PRE_START);
}

/* ---- inputs */

void op_note_start(struct op *op)
{
    if (!op->proc->start.pid)
        op->proc->knows_siblings = true; /* nothing was started before */
    op->proc->is_after_run = op->proc->may_finish = false;
    op->proc->start = op->run;
    op->proc->start_from = op->out_from;
}

void op_on_began(struct op *op, const struct op_input *in)
{
    if (in->failure) {
        bool is_of_contract = in->failure->code >= ERR_BASE_CODES; /* for example an unknown user */

        int code = is_of_contract ? in->failure->code : CODE_COMMAND;

        op->run = (struct core_ident){ 0 };
        if (op->is_preparing)
            op_end(op, code, "the pre-start command: %s", err_msg(in->failure));
        else
            op_end(op, code, "%s", err_msg(in->failure));
        return;
    }
    op->run = in->began->ident;
    op->fits_ms = in->began->fits && !op->is_preparing ? op->core->now_ms : 0;
    op->out_from = in->began->out_from;
    if (op_starts(op))
        op_note_start(op);
    journal_note_run(op);
    if (op->is_preparing)
        return;
    watch_once(op);
    if (!in->began->fits || !op_may_stay(op))
        return;
    op_queue_leave(op);
    if (op->phase == PHASE_RUN && op->self_ms - op->core->now_ms > PEEK_MS)
        op_set_timer(op, PEEK_MS); /* no hurry: since when is known */
}

void op_note_begin(struct op *op, struct core_ident ident)
{
    if (op->fits_ms && core_is_same(op->run, ident))
        op->proc->begun_ms = op->fits_ms;
}

/* If the command later times out, this is the reason: it was not the process. */
static void note_instead(struct op *op, const struct core_probe *probe)
{
    cause_set_text(&op->found, probe->found == FOUND_IT ? NULL : probe->why);
}

static void put_instead(const struct op *op, const struct core_probe *probe,
                        char to[CAUSE_TEXT_SIZE])
{
    const char *expected = op->command.spec.identity.proc_name;

    if (op->phase != PHASE_RUN)
        msg_printf(to, CAUSE_TEXT_SIZE, "%s: is proc_name (program) right?", probe->why);
    else if (probe->script && *probe->script)
        msg_printf(to, CAUSE_TEXT_SIZE,
                   "the command is still %s, run by %s, and %s is expected: "
                   "is proc_name (program) right?",
                   probe->script, probe->program, expected);
    else
        msg_printf(to, CAUSE_TEXT_SIZE,
                   "the command runs as %s, and %s is expected: is proc_name (program) right?",
                   probe->program, expected);
}

/* Shown as long as the start goes on; a wrong proc_name would otherwise be known only after
 * op_timeout. */
void op_tell_instead(struct op *op, const struct core_probe *probe)
{
    bool is_known = probe->found == FOUND_ANOTHER && probe->program && *probe->program;
    char text[CAUSE_TEXT_SIZE] = "";

    if (!op_may_stay(op) || op->core->now_ms < op->self_ms)
        return;
    if (is_known)
        put_instead(op, probe, text);
    if (!strcmp(text, op->instead ? op->instead : ""))
        return;
    cause_set_text(&op->instead, text);
    core_tell_change(op->proc);
}

void op_on_run_probed(struct op *op, const struct op_input *in)
{
    const struct core_probe *probe = in->probe;
    bool runs = probe->found == FOUND_IT;
    enum ask asked = op->asked;

    op->is_unchecked = false;
    op->asked = ASK_NOTHING;
    if (asked == ASK_PID_FILE) {
        ready_on_file(op, probe);
        return;
    }
    note_instead(op, probe);
    op_tell_instead(op, probe);
    if (asked == ASK_SELF && op->ready)
        ready_on_self(op, probe);
    else if (asked == ASK_SELF && runs)
        op_succeed(op, probe->ident);
    else if (asked != ASK_SELF && runs && op_starts(op))
        op_on_peek(op, probe);
}

void op_on_run_exited(struct op *op, const struct op_input *in)
{
    (void)in;
    ready_on_exit(op);
}

static void note_ended(struct op *op, int status)
{
    struct core_ident run = op->run;

    op->status = status;
    op->run = (struct core_ident){ 0 };
    op_queue_leave(op);
    if (op_is_once(op) && !op->is_preparing)
        cause_on_exit(op->proc, run, status);
}

void op_on_ended(struct op *op, const struct op_input *in)
{
    const struct operation *part = op_part(op);

    note_ended(op, in->status);
    if (in->status == CORE_STATUS_UNKNOWN)
        op_resume(op); /* the command of a previous agent: determine its outcome */
    else if (!proc_exit_is_good(&op->command.spec.extra, in->status))
        op_fail_command(op, in->status, in->output);
    else if (part->outcome == MAKES_STOP && !op->proc->ident.pid)
        op_succeed(op, (struct core_ident){ 0 });
    else if (op_is_once(op))
        op_succeed(op, (struct core_ident){ 0 }); /* judged by its exit code alone */
    else
        op_give_time_to_settle(op);
}

void op_on_prepared(struct op *op, const struct op_input *in)
{
    op->status = in->status;
    op->run = (struct core_ident){ 0 };
    if (in->status == CORE_STATUS_UNKNOWN) {
        op_resume_preparing(op);
    } else if (!proc_exit_is_good(&op->command.spec.extra, in->status)) {
        op_fail_command(op, in->status, in->output);
    } else {
        op->is_prepared = true;
        op_begin_part(op);
    }
}

void op_on_late_ended(struct op *op, const struct op_input *in)
{
    note_ended(op, in->status);
    op_fail_late(op, in->output);
}

/* ---- timers */

static void kill_command(struct op *op)
{
    struct core *c = op->core;

    op_enter(op, PHASE_LATE);
    op_set_timer(op, KILL_MS);
    c->effects->end_run(c->arg, op->id);
}

/* A command that hangs in the kernel does not die of SIGKILL: it must not keep its slot. */
void op_on_late_timer(struct op *op, const struct op_input *in)
{
    (void)in;
    if (op->is_preparing)
        op_end(op, CODE_TIMEOUT,
               "the pre-start command ran longer than %lld s and can not be ended",
               (long long)op_timeout_ms(op) / 1000);
    else
        op_end(op, CODE_TIMEOUT, "the command ran longer than %lld s and can not be ended",
               (long long)op_timeout_ms(op) / 1000);
}

void op_on_prepare_timer(struct op *op, const struct op_input *in)
{
    (void)in;
    kill_command(op);
}

void op_on_run_timer(struct op *op, const struct op_input *in)
{
    int64_t now_ms = op->core->now_ms;

    (void)in;
    if (ready_is_self(op)) {
        op_set_timer(op, PEEK_MS); /* only commands have a time-out */
    } else if (now_ms >= op->run_end_ms) {
        kill_command(op);
    } else if (op->run.pid < 0) {
        op_set_timer(op, AGAIN_MS);
    } else if (now_ms < op->self_ms) {
        int64_t left_ms = op->self_ms - now_ms;

        op_set_timer(op, op->seen.pid || left_ms < PEEK_MS ? left_ms : PEEK_MS);
        if (op_may_stay(op))
            op_ask_who(op, ASK_PEEK);
    } else {
        /* Repeated: a slow script may become the process, or start it, at any time. */
        int64_t left_ms = op->run_end_ms - now_ms;

        op_set_timer(op, left_ms > PEEK_MS ? PEEK_MS : left_ms);
        if (op->asked != ASK_SELF)
            op_ask_who(op, ASK_SELF);
    }
}

void op_on_dying_timer(struct op *op, const struct op_input *in)
{
    struct core *c = op->core;

    (void)in;
    if (c->now_ms < op->check_ms) {
        op_set_timer(op, op->check_ms - c->now_ms);
        return;
    }
    if (op->sent == SIGKILL) {
        op_check(op);
        return;
    }
    op->sent = SIGKILL;
    op->check_ms = c->now_ms + KILL_MS;
    op_set_timer(op, KILL_MS);
    op_signal(op, SIGKILL);
}
