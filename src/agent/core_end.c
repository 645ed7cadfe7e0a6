/* SPDX-License-Identifier: MIT */
/* core_end.c - how an operation ends: its outcome, what it means for the process, the
 * answer.
 *
 * Every operation ends in op_end_with(), whatever happens. */
#include <stdarg.h>
#include <stdio.h>

#include "agent/core_care.h"
#include "agent/core_cause.h"
#include "agent/core_cycle.h"
#include "agent/core_limit.h"
#include "agent/core_local.h"
#include "agent/core_op.h"
#include "agent/core_ready.h"
#include "agent/core_step.h"

static void end_ours(struct op *op, int code, const char *text)
{
    struct kept *k = op->kept;
    enum op_aim aim = op->aim;
    int64_t number = op->command.op;
    struct core_ident old = op->old;
    char copy[WHY_TEXT_BYTES];

    snprintf(copy, sizeof(copy), "%s", text);
    op_free(op);
    if (aim == AIM_LIMIT)
        limit_on_done(k, old, number, code);
    else if (aim == AIM_CYCLE)
        cycle_on_done(k, code, copy);
    else if (aim == AIM_HEALTH)
        care_on_done(k, code, copy);
    else
        keep_on_done(k, code, copy);
}

/* A start that failed is worth knowing of, also where nothing was known before; it is
 * hosted only after success, though. */
static void leave_trace(struct op *op)
{
    struct kept *k = op->kept;

    if (!op_is_ours(op) && !k->hosted && k->wanted == PROC_UNREGISTERED && op->has_acted &&
        op_rule(op)->outcome == MAKES_RUN)
        book_set_spec(k, &op->command.spec);
}

/* What only looks, or found that nothing had to be done, is no reason for what the process
 * is. */
static void note_cause(struct op *op, int code, const char *text)
{
    const struct op_rule *r = op_rule(op);
    struct kept *k = op->kept;

    if (code == CODE_OK || code == CODE_CANCELLED || !r || op->is_refused || r->op == PROC_OP_QUERY)
        return;
    if (code == CODE_RUNNING || code == CODE_NOT_RUNNING) {
        bool is_news = k->cause.has_given_up || k->cause.failed_s > 0;

        if (r->outcome == LEAVES_AS_IS)
            return;
        cause_on_success(k); /* it is as it should be, */
        if (is_news && core_is_known(k))
            book_process(k); /* also to the next agent */
        return;
    }
    leave_trace(op);
    cause_on_failure(k, r->op, code, op->reason ? op->reason : text, op->said);
    if (core_is_known(k))
        book_process(k);
}

/* It is told when it is in the journal; what is our own business goes to the keeper. */
void op_end_with(struct op *op, int code, const struct proc_view *seen, const char *text)
{
    struct kept *k = op->kept;

    timers_stop(&op->core->timers, &op->timer);
    ready_end(op);
    op_queue_leave(op);
    note_cause(op, code, text);
    cycle_on_end(op, code);
    if (op_is_ours(op)) {
        end_ours(op, code, text);
        return;
    }
    op->phase = PHASE_SYNC;
    op->result.task = op->command.task;
    op->result.item = op->command.item;
    op->result.code = code;
    op->result.text = arena_strdup(&op->arena, text);
    if (seen)
        op->result.view = *seen;
    else
        shape_defaults(&proc_view_shape, &op->result.view);
    core_fill_view(k, &op->result.view);
    proc_view_keep(&op->result.view, &op->arena);
    if (op->command.op == PROC_OP_QUERY)
        core_tell_change(k);
    else
        core_tell_process(k);
    op->mark = book_result(op);
    if (core_is_local(op->command.task))
        local_on_end(op);
    TAILQ_INSERT_TAIL(&op->core->waiting, op, waiting);
    keep_look(k); /* the disk may keep us waiting */
}

void op_end(struct op *op, int code, const char *fmt, ...)
{
    char text[9000];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    op_end_with(op, code, NULL, text);
}

/* ---- a question */

enum { OTHERS_MAX = 100 }; /* that are named; all are counted */

/* Of several, the process itself is told of like any; of the others only who they are. */
static const char *list_others(struct op *op, const struct core_probe *probe)
{
    const char *text = "";
    size_t named = 0;

    for (size_t i = 0; i < probe->n_all && named < OTHERS_MAX; i++) {
        if (probe->all[i].pid == probe->ident.pid)
            continue;
        text = arena_printf(&op->arena, "%s%s%lld", text, named++ ? " " : "",
                            (long long)probe->all[i].pid);
    }
    return text;
}

/* For those before it, and for its own commands.  Many may hang: then who asks hears what is
 * known. */
enum { ASK_MS = 2 * CARE_MS + 5000 };

static int64_t ask_until_ms(const struct op *op)
{
    int64_t until_ms = op->core->now_ms + ASK_MS;

    return until_ms < op->deadline_ms ? until_ms : op->deadline_ms;
}

void op_end_query(struct op *op, const struct core_probe *probe)
{
    struct proc_cause *cause = &op->kept->cause;
    struct proc_view view = probe->view;

    cause->instances_wanted = op_instances(op);
    cause->instances = cause->instances_wanted ? (int64_t)probe->n_all : 0;
    view.others = list_others(op, probe);
    op->is_found = probe->found == FOUND_IT;
    if (!care_ask(op->kept, &op->command.spec, op_end_asked, op)) {
        op_end_with(op, CODE_OK, op->is_found ? &view : NULL, "success");
        return;
    }
    op->phase = PHASE_ASK;
    timers_set(&op->core->timers, &op->timer, ask_until_ms(op));
    op->result.view = view;
    proc_view_keep(&op->result.view, &op->arena);
}

void op_end_asked(void *arg)
{
    struct op *op = arg;
    struct proc_view view = op->result.view;

    care_forget(op->kept, op);
    op_end_with(op, CODE_OK, op->is_found ? &view : NULL, "success");
}

/* ---- hosting */

void op_stop_hosting(struct op *op)
{
    struct kept *k = op->kept;

    k->hosted = k->is_owed = false;
    k->wanted = PROC_STOPPED;
    timers_stop(&op->core->timers, &k->timer);
    book_process(k);
}

static void host(struct op *op)
{
    struct kept *k = op->kept;

    if (op_is_ours(op))
        return; /* its spec is the one that is there */
    book_set_spec(k, &op->command.spec);
    k->spec_op = op->command.op;
    k->spec_s = op->core->wall_ms / 1000;
    k->hosted = true;
    k->wanted = PROC_RUNNING;
    k->tries = 0;
    keep_on_host(k);
}

/* What runs is still told of, and who comes next may need its spec. */
static void end_hosting(struct op *op)
{
    struct kept *k = op->kept;

    k->hosted = k->is_owed = false;
    if (!op->command.forgets || k->ident.pid || TAILQ_NEXT(op, link))
        return;
    k->wanted = PROC_UNREGISTERED;
    k->has_spec = k->is_booked = false; /* so that it goes when this is told (op_begin_next) */
}

/* Needs no command and looks at nothing. */
void op_set_hosting(struct op *op)
{
    struct kept *k = op->kept;

    timers_stop(&op->core->timers, &k->timer); /* it is set anew when this is done */
    if (op->command.only_if_hosted && !k->hosted) {
        op_end(op, CODE_NOT_REGISTERED, "process (%s) is not hosted", k->meta.name);
        return;
    }
    if (op->command.op == PROC_OP_HOST) {
        host(op);
        k->is_owed = !k->ident.pid;
        k->cause.has_given_up = false;
    } else {
        end_hosting(op);
    }
    book_process(k);
    op_end(op, CODE_OK, "success");
}

/* ---- success, or not */

static void has_stopped(struct op *op)
{
    core_set_ident(op->kept, (struct core_ident){ 0 });
    if (op->stops_first) {
        op_wait_for_slot(op, true); /* for its other half */
        return;
    }
    cause_on_success(op->kept);
    if (!op_is_ours(op))
        op_stop_hosting(op);
    op_end(op, CODE_OK, "success");
}

static void has_started(struct op *op, struct core_ident ident)
{
    struct kept *k = op->kept;

    cause_on_success(k);
    care_on_start(k);
    if (op->has_before)
        cause_restore_exit(k, &op->before); /* that was only its launcher */
    host(op);
    core_set_ident(k, ident);
    k->last_start_s = op->core->wall_ms / 1000;
    k->cause.has_finished = proc_policy_of(&k->spec).kind != PROC_RESIDENT;
    if (!op_is_ours(op))
        k->restarts = 0;
    book_process(k);
    op_end(op, CODE_OK, "success");
}

void op_succeed(struct op *op, struct core_ident ident)
{
    switch (op_part(op)->outcome) {
    case MAKES_STOP: has_stopped(op); return;
    case MAKES_RUN: has_started(op, ident); return;
    case LEAVES_AS_IS:
        cause_on_success(op->kept);
        if (core_is_known(op->kept))
            book_process(op->kept);
        op_end(op, CODE_OK, "success");
        return;
    }
}

void op_fail_check(struct op *op, const char *why)
{
    op_fail_ready(op, op_part(op)->outcome == MAKES_STOP ? "alive" : "not alive", why);
}

void op_fail_ready(struct op *op, const char *state, const char *why)
{
    const char *colon = why && *why ? ": " : "";

    why = why ? why : "";
    op->reason = arena_printf(&op->arena, "%s at the post-check%s%s", state, colon, why);
    op_end(op, CODE_CHECK,
           "%s process (%s) failed, for post-check status %s, please refer to agent log for "
           "details%s%s",
           op->stops_first ? "stop" : op_rule(op)->name, op->kept->meta.name, state, colon, why);
}

/* Job's calls take one for periodic that says nothing else, and many mean a daemon. */
static const char *late_advice(const struct op *op)
{
    if (!op_is_once(op) || op->stops_first)
        return "";
    return "; a process that is to stay needs auto_type 1 (Job's type 1)";
}

/* A start or restart is told what was found, as at the post-check. */
static const char *late_reason(struct op *op)
{
    return arena_printf(&op->arena, "the command ran longer than %lld s and was ended%s%s%s",
                        (long long)proc_policy_of(&op->command.spec).op_timeout_s,
                        op->found ? ": " : "", op->found ? op->found : "", late_advice(op));
}

/* For those who ask why: how its command ended, and what that had said. */
void op_fail_command(struct op *op, int status, const char *output)
{
    op->said = arena_strdup(&op->arena, output);
    if (op->is_late) {
        op->reason = late_reason(op);
        op_end(op, CODE_TIMEOUT, "%s; its output: [%s]", op->reason, output);
        return;
    }
    op->reason =
        status >= CORE_SIGNALED
            ? arena_printf(&op->arena, "the command was ended by signal %d", status % CORE_SIGNALED)
            : arena_printf(&op->arena, "the command ended with exit code %d", status);
    op_end(op, CODE_COMMAND, "Script exit code non-zero. Error msessage: [%s]", output);
}
