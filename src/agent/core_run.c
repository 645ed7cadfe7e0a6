/* SPDX-License-Identifier: MIT */
/* core_run.c - the command of an operation, or its signal: begun, ended, taking too long. */
#include <signal.h>

#include "agent/core_cause.h"
#include "agent/core_cycle.h"
#include "agent/core_ready.h"
#include "agent/core_step.h"

/* How long a process may take to die of SIGKILL before we look again. */
enum { KILL_MS = 5000 };

/* When a command that has not begun yet (its user is being looked up) is looked at again. */
enum { AGAIN_MS = 200 };

/* One that is to stay is looked at while its command still runs, which may be the
 * process itself; one that is to end has all the time there is. */
bool op_may_stay(const struct op *op)
{
    return op_starts(op) && proc_policy_of(&op->command.spec).kind == PROC_RESIDENT;
}

/* Its command is the whole of it: how that ends, and what it says last, is the process's. */
bool op_is_once(const struct op *op)
{
    return op_starts(op) && !op_may_stay(op);
}

static void watch_once(struct op *op)
{
    if (op_is_once(op))
        op->core->hands->watch(op->core->arg, op->run);
}

static void set_run_timer(struct op *op)
{
    int64_t timeout_ms = op_timeout_ms(op), check_ms = timeout_ms;

    if (op_may_stay(op))
        check_ms = proc_policy_of(&op->command.spec).start_check_s * 1000;
    check_ms = check_ms < timeout_ms ? check_ms : timeout_ms;
    op->run_end_ms = op->core->now_ms + timeout_ms;
    op->self_ms = op->core->now_ms + check_ms;
    op_set_timer(op, check_ms > PEEK_MS ? PEEK_MS : check_ms);
}

/* A restart command may leave the process as it is, and only make it begin anew. */
void op_note_old(struct op *op)
{
    if (op_part(op)->op == PROC_OP_RESTART)
        op->old = op->kept->ident;
}

static void start_run(struct op *op, const char *line)
{
    const struct core_run run = { .id = op->id,
                                  .task = op->command.task,
                                  .item = op->command.item,
                                  .space = op->kept->meta.space,
                                  .name = op->kept->meta.name,
                                  .what = op_part(op)->name,
                                  .line = line,
                                  .spec = &op->command.spec };

    op->phase = PHASE_RUN;
    op->run = (struct core_ident){ .pid = -1 };
    op->has_acted = true;
    op->status = CORE_STATUS_UNKNOWN;
    op_note_old(op);
    cycle_on_begin(op);
    book_run(op);
    set_run_timer(op);
    ready_begin(op);
    op->core->hands->run(op->core->arg, &run);
}

/* A signal was sent. */
void op_await_death(struct op *op)
{
    int64_t stop_s = op_part(op)->op == PROC_OP_STOP ? op->command.spec.extra.stop_wait_s : 0;
    int64_t wait_ms = stop_s ? stop_s * 1000 : op_timeout_ms(op);

    op->phase = PHASE_DYING;
    op->check_ms = op->core->now_ms + wait_ms;
    op_set_timer(op, wait_ms > PEEK_MS ? PEEK_MS : wait_ms);
    op_queue_leave(op);
}

void op_begin_part(struct op *op)
{
    const struct op_rule *part = op_part(op);
    const char *line = op_line(op);
    int number = part->signal == SIGTERM ? (int)op->command.spec.extra.stop_signal : part->signal;

    if (*line) {
        start_run(op, line);
        return;
    }
    if (!part->signal) {
        op_end(op, CODE_NO_COMMAND, "spec.control.%s_cmd: required for this operation", part->name);
        return;
    }
    op->has_acted = true;
    book_run(op);
    op->core->hands->signal(op->core->arg, op->kept->ident, number, number == SIGKILL);
    op_await_death(op);
}

void op_adopt(struct op *op)
{
    const struct core_adopt a = {
        op->id, op->kept->meta.space, op->kept->meta.name, op_part(op)->name, op->run, op->out_from
    };

    op->phase = PHASE_RUN;
    op->goes_first = op_goes_first(op);
    op_queue_seize(op);
    set_run_timer(op);
    ready_begin(op);
    op->core->hands->adopt(op->core->arg, &a);
    watch_once(op);
}

/* ---- what happens to it */

void op_note_start(struct op *op)
{
    op->kept->start = op->run;
    op->kept->start_from = op->out_from;
}

void op_on_run(struct op *op, const struct core_began *began, const struct err *failure)
{
    if (op->phase != PHASE_RUN)
        return;
    if (failure) {
        bool is_of_contract = failure->code >= ERR_BASE_CODES; /* unknown user, say */

        op->run = (struct core_ident){ 0 };
        op_end(op, is_of_contract ? failure->code : CODE_COMMAND, "%s", failure->text);
        return;
    }
    op->run = began->ident;
    op->out_from = began->out_from;
    if (op_starts(op))
        op_note_start(op);
    book_run(op);
    watch_once(op);
    if (began->fits && op_may_stay(op))
        op_queue_leave(op);
}

void op_on_run_end(struct op *op, int status, const char *output)
{
    const struct op_rule *part = op_part(op);
    struct core_ident run = op->run;

    op->status = status;
    op->run = (struct core_ident){ 0 };
    if (op->phase != PHASE_RUN && op->phase != PHASE_SELF)
        return;
    op_queue_leave(op);
    if (op_is_once(op))
        cause_on_exit(op->kept, run, status);
    if (status == CORE_STATUS_UNKNOWN && !op->is_late)
        op_resume(op); /* the command of an agent before us: what has become of it? */
    else if (!proc_exit_is_good(&op->command.spec.extra, status) || op->is_late)
        op_fail_command(op, status, output);
    else if (part->outcome == MAKES_STOP && !op->kept->ident.pid)
        op_succeed(op, (struct core_ident){ 0 });
    else if (op_is_once(op))
        op_succeed(op, (struct core_ident){ 0 }); /* judged by its exit code alone */
    else
        op_give_time_to_settle(op);
}

/* ---- time passes */

/* One that hangs in the kernel does not even die of SIGKILL: others need not wait for it. */
static void end_command(struct op *op)
{
    struct core *c = op->core;

    if (op->is_late) {
        op_end(op, CODE_TIMEOUT, "the command ran longer than %lld s and can not be ended",
               (long long)op_timeout_ms(op) / 1000);
        return;
    }
    op->is_late = true;
    op->phase = PHASE_RUN;
    op_set_timer(op, KILL_MS);
    c->hands->end_run(c->arg, op->id);
}

void op_on_run_timer(struct op *op)
{
    int64_t now_ms = op->core->now_ms;

    if (ready_is_self(op)) {
        op_set_timer(op, PEEK_MS); /* only commands have a time-out */
    } else if (now_ms >= op->run_end_ms) {
        end_command(op);
    } else if (op->run.pid < 0) {
        op_set_timer(op, AGAIN_MS);
    } else if (now_ms < op->self_ms) {
        op_set_timer(op, op->self_ms - now_ms);
        if (op_may_stay(op))
            op_ask_who(op, ASK_PEEK);
    } else {
        /* Again and again: a slow script may become it, or start it, at any time. */
        int64_t left_ms = op->run_end_ms - now_ms;

        op_set_timer(op, left_ms > PEEK_MS ? PEEK_MS : left_ms);
        if (op->phase != PHASE_SELF)
            op_look(op, PHASE_SELF);
    }
}

void op_on_dying_timer(struct op *op)
{
    struct core *c = op->core;

    if (c->now_ms < op->check_ms) {
        op_set_timer(op, op->check_ms - c->now_ms);
        return;
    }
    op->is_killed = true;
    op_set_timer(op, KILL_MS);
    c->hands->signal(c->arg, op->kept->ident, SIGKILL, true);
}
