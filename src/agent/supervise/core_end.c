/* SPDX-License-Identifier: MIT */
/* core_end.c - the end of an operation: its outcome, the consequences for the process, the
 * result.
 *
 * Every operation ends in op_end_with(). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_claim.h"
#include "agent/supervise/core_cycle.h"
#include "agent/supervise/core_filewatch.h"
#include "agent/supervise/core_health.h"
#include "agent/supervise/core_limit.h"
#include "agent/supervise/core_local.h"
#include "agent/supervise/core_op.h"
#include "agent/supervise/core_ready.h"
#include "agent/supervise/core_step.h"
#include "base/text/utf8.h"
#include "model/operation.h"

static void end_ours(struct op *op, int code, const char *text)
{
    struct proc *k = op->proc;
    enum op_origin origin = op->origin;
    int64_t number = op->command.op;
    struct core_ident old = op->old;
    char copy[CAUSE_TEXT_SIZE];

    cause_cut(copy, sizeof(copy), text);
    op_free(op);
    if (origin == ORIGIN_LIMIT)
        limit_on_done(k, old, number, code);
    else if (origin == ORIGIN_CYCLE)
        cycle_on_done(k, code, copy);
    else if (origin == ORIGIN_HEALTH)
        health_on_done(k, code, copy);
    else if (origin == ORIGIN_FILE || origin == ORIGIN_FILE_RELOAD)
        filewatch_on_done(k, number, code, copy);
    else
        restart_on_done(k, code, copy);
}

/* A failed start is recorded, even if the process was not known before; but it is hosted only
 * after a success. */
static void leave_trace(struct op *op)
{
    struct proc *k = op->proc;

    if (!op_is_ours(op) && !k->hosted && k->wanted == PROC_UNREGISTERED && op_has_acted(op) &&
        op_row(op)->outcome == MAKES_RUN)
        journal_note_spec(k, &op->command.spec);
}

/* An operation that only queries, or had nothing to do, is no cause of the state of the process. */
static void note_cause(struct op *op, int code, const char *text)
{
    const struct operation *o = op_row(op);
    struct proc *k = op->proc;

    if (code == CODE_OK || code == CODE_CANCELLED || !o || op->fate == FATE_REFUSED ||
        o->kind == ONLY_LOOKS)
        return;
    if (code == CODE_RUNNING || code == CODE_NOT_RUNNING) {
        bool is_news = k->cause.has_given_up || k->cause.failed_s > 0;

        if (o->outcome == LEAVES_AS_IS)
            return;
        cause_on_success(k); /* the process is in the requested state, */
        if (is_news && core_is_known(k))
            journal_note_process(k); /* also for the next agent */
        return;
    }
    if ((code == CODE_NO_COMMAND || code == CODE_NOT_REGISTERED || code == CODE_PARAM) &&
        !op_has_acted(op) && k->cause.failed_s > 0)
        return; /* nothing was tried, and the recorded failure says more */
    leave_trace(op);
    cause_on_failure(k, o->number, code, op->reason ? op->reason : text, op->output);
    if (core_is_known(k))
        journal_note_process(k);
}

/* A start that failed may have left some of its processes. */
static void op_note_left(const struct op *op)
{
    struct proc *k = op->proc;

    k->last_start = k->start.pid ? k->start : CORE_UNKNOWN_START;
    if (!k->last.pid)
        k->last_ms = op->core->now_ms;
}

/* The result is sent once it is in the journal; the outcome of an internal operation goes to its
 * module. */
void op_end_with(struct op *op, int code, const struct proc_view *seen, const char *text)
{
    struct proc *k = op->proc;

    ready_end(op);
    op_queue_leave(op);
    if (code != CODE_OK && op->begun && op_starts(op) && !k->ident.pid)
        op_note_left(op);
    note_cause(op, code, text);
    cycle_on_end(op, code);
    if (op_is_ours(op)) {
        end_ours(op, code, text);
        return;
    }
    op_enter(op, PHASE_SYNC);
    op->result.task = op->command.task;
    op->result.item = op->command.item;
    op->result.code = code;
    op->result.text = arena_strdup(&op->arena, text);
    if (seen)
        op->result.view = *seen;
    else
        shape_defaults(&proc_view_shape, &op->result.view);
    core_fill_view(k, &op->result.view);
    if (op->shown.pid) {
        op->result.view.status = PROC_RUNNING;
        op->result.view.pid = op->shown.pid;
    }
    proc_view_keep(&op->result.view, &op->arena);
    if (operation_has_kind(op->command.op, ONLY_LOOKS))
        core_tell_change(k);
    else
        core_tell_process(k);
    if (!op->is_durable) /* an event that cannot happen ended it */
        TAILQ_REMOVE(&op->core->waiting, op, waiting);
    op->mark = journal_note_result(op);
    if (core_is_local(op->command.task))
        local_on_end(op);
    TAILQ_INSERT_TAIL(&op->core->waiting, op, waiting);
    restart_evaluate(k); /* the journal write may take long */
}

void op_end(struct op *op, int code, const char *fmt, ...)
{
    char text[10000];
    va_list ap;

    va_start(ap, fmt);
    msg_vprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    op_end_with(op, code, NULL, text);
}

/* ---- queries */

enum { OTHERS_MAX = 100 }; /* maximum number of processes named; all are counted */

/* Of several instances only `ident` is shown in full; the others are listed by pid. */
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

/* Covers the side commands before its own, and its own.  If many hang, the query is answered
 * with the known state. */
enum { ASK_MS = 2 * HEALTH_MS + 5000 };

static int64_t ask_until_ms(const struct op *op)
{
    int64_t until_ms = op->core->now_ms + ASK_MS;

    return until_ms < op->deadline_ms ? until_ms : op->deadline_ms;
}

static void on_answers(void *op)
{
    op_step(op, OP_ASKED, NULL);
}

void op_end_query(struct op *op, const struct core_probe *probe)
{
    struct proc_cause *cause = &op->proc->cause;
    struct proc_view view = probe->view;
    bool runs = probe->found == FOUND_IT;

    cause->instances_wanted = op_instances(op);
    cause->instances = cause->instances_wanted ? (int64_t)probe->n_all : 0;
    view.others = list_others(op, probe);
    if (op->command.look != LOOK_FULL || !health_ask(op->proc, &op->command.spec, on_answers, op)) {
        op_end_with(op, CODE_OK, runs ? &view : NULL, MSG("success"));
        return;
    }
    op_enter(op, PHASE_ASK);
    timers_set(&op->core->timers, &op->timer, ask_until_ms(op));
    op->result.view = view;
    proc_view_keep(&op->result.view, &op->arena);
    op->view = runs ? &op->result.view : NULL;
}

/* A match is shown but not adopted.  Other processes are not described: the caller may have no
 * right to know about them. */
void op_end_unchecked(struct op *op, const struct core_probe *probe)
{
    bool runs = probe->found == FOUND_IT;

    op->shown = runs ? probe->ident : (struct core_ident){ 0 };
    op_end_with(op, CODE_OK, runs ? &probe->view : NULL, MSG("success"));
}

void op_on_asked(struct op *op, const struct op_input *in)
{
    struct proc_view view = op->result.view;

    (void)in;
    health_forget(op->proc, op);
    op_end_with(op, CODE_OK, op->view ? &view : NULL, MSG("success"));
}

/* ---- hosting */

void op_stop_hosting(struct op *op)
{
    struct proc *k = op->proc;

    if (k->wanted == PROC_RUNNING && !k->ident.pid && cycle_is_periodic(k))
        k->cause.since_s = op->core->wall_ms / 1000; /* between two runs it was not stopped */
    k->hosted = k->is_owed = false;
    k->wanted = op_row(op)->wanted;
    journal_note_process(k);
}

static void host(struct op *op)
{
    struct proc *k = op->proc;

    if (op_is_ours(op))
        return; /* its spec stays the stored one */
    journal_note_spec(k, &op->command.spec);
    k->spec_op = op->command.op;
    k->spec_s = op->core->wall_ms / 1000;
    k->hosted = true;
    k->wanted = op_row(op)->wanted;
    restart_reset(k);
}

/* A running process is still reported to the server, and the next operation may need its spec.  On
 * the host itself it is forgotten, too: it keeps running, and the server gets all that is left. */
static void end_hosting(struct op *op)
{
    struct proc *k = op->proc;
    bool is_local = core_is_local(op->command.task);

    k->hosted = k->is_owed = false;
    if (!op->command.forgets || (k->ident.pid && !is_local) || TAILQ_NEXT(op, link))
        return;
    if (k->ident.pid)
        core_set_ident(k, (struct core_ident){ 0 });
    k->core->tells_all = k->core->tells_all || is_local;
    k->wanted = PROC_UNREGISTERED;
    k->has_spec = k->is_journaled = false; /* so that op_begin_next() frees it */
}

static bool is_other_spec(const struct proc *k, const struct proc_spec *spec)
{
    struct buf old = { 0 }, new = { 0 };
    bool is_other;

    shape_write(&proc_spec_shape, &k->spec, &old);
    shape_write(&proc_spec_shape, spec, &new);
    is_other = strcmp(buf_text(&old), buf_text(&new)) != 0;
    buf_free(&old);
    buf_free(&new);
    return is_other;
}

/* Whether the start of a running process also hosts it.  Our own API asks for that, BlueKing's
 * calls do not.  One that stays hosted under another name is not hosted twice. */
static bool is_to_be_hosted(const struct op *op)
{
    const struct proc *k = op->proc;

    return (op->command.hosts_running || op->command.stores_spec) && !op_is_ours(op) &&
           !(k->hosted && k->wanted == PROC_RUNNING) && !claim_has(op, k->ident);
}

bool op_store_spec(struct op *op)
{
    struct proc *k = op->proc;
    const struct proc_spec *spec = &op->command.spec;
    bool is_asked = op->command.stores_spec || is_to_be_hosted(op);

    if (!is_asked || op_is_ours(op) || claim_has(op, k->ident) ||
        spec->has_identity != PRESENCE_GIVEN || (k->has_spec && !is_other_spec(k, spec)))
        return false;
    cause_on_spec(k, spec);
    restart_on_spec(k, spec);
    journal_note_spec(k, spec);
    k->spec_op = op->command.op;
    k->spec_s = op->core->wall_ms / 1000;
    return true;
}

bool op_host_running(struct op *op)
{
    struct proc *k = op->proc;

    if (!is_to_be_hosted(op))
        return false;
    host(op);
    k->is_owed = k->cause.has_given_up = false;
    return true;
}

/* It is running, perhaps under another name, which only a caller that may host it gets to know. */
void op_end_claimed(struct op *op, int64_t pid)
{
    const struct proc *k = op->proc, *other = NULL;

    if (claim_has(op, k->ident) && (other = claim_other(op, k->ident)))
        op_end(op, CODE_RUNNING,
               "process (%s) is already running with pid %lld, which is hosted as %s:%s",
               k->meta.name, (long long)pid, other->meta.space, other->meta.name);
    else
        op_end(op, CODE_RUNNING, "process (%s) is already running with pid %lld", k->meta.name,
               (long long)pid);
}

static void end_claimed(struct op *op, struct core_ident ident, const struct proc *other)
{
    const char *name = op->proc->meta.name;

    if (!ident.pid)
        op_end(op, CODE_MATCH, "process (%s) is hosted under another name", name);
    else if (other)
        op_end(op, CODE_MATCH, "process (%s) runs with pid %lld, which is hosted as %s:%s", name,
               (long long)ident.pid, other->meta.space, other->meta.name);
    else
        op_end(op, CODE_MATCH,
               "process (%s) runs with pid %lld, which is hosted under another name", name,
               (long long)ident.pid);
}

/* It stays hosted whatever becomes of the operation, which may be a restart that fails.  A spec
 * that is only renewed is not a request to host the process under this name. */
bool op_claim(struct op *op, struct core_ident ident)
{
    const struct proc *other;

    if (op_is_ours(op) || op->command.only_if_hosted || !claim_is_made(op, ident))
        return true;
    if (!claim_can_move(op, ident, &other)) {
        end_claimed(op, ident, other);
        return false;
    }
    claim_move(op, ident);
    cause_on_spec(op->proc, &op->command.spec);
    restart_on_spec(op->proc, &op->command.spec);
    host(op);
    journal_note_process(op->proc);
    return true;
}

/* Runs no command; a probe was made only where the process may be hosted under another name. */
void op_set_hosting(struct op *op)
{
    struct proc *k = op->proc;

    if (op->command.only_if_hosted && !k->hosted) {
        op_end(op, CODE_NOT_REGISTERED, "process (%s) is not hosted", k->meta.name);
        return;
    }
    if (op_row(op)->hosting == HOSTING_BEGINS) {
        cause_on_spec(k, &op->command.spec);
        restart_on_spec(k, &op->command.spec);
        host(op);
        k->is_owed = !k->ident.pid;
        k->cause.has_given_up = false;
    } else {
        end_hosting(op);
    }
    journal_note_process(k);
    op_end(op, CODE_OK, "success");
}

/* ---- success and failure */

static void end_stopped(struct op *op)
{
    core_set_ident(op->proc, (struct core_ident){ 0 });
    if (!op_clear(op, CLEAR_THEN_SAY_STOPPED))
        op_end_cleared(op);
}

void op_end_cleared(struct op *op)
{
    const char *left = op->proc->cause.left;

    if (op->half == HALF_STOP) {
        op_wait_for_slot(op, true); /* for the second half of the restart */
        return;
    }
    cause_on_success(op->proc);
    if (!op_is_ours(op))
        op_stop_hosting(op);
    if (left && op->clear.begun_ms)
        op_end(op, CODE_OK, "success; processes of it still run: %s", left);
    else
        op_end(op, CODE_OK, "success");
}

static void end_started(struct op *op, struct core_ident ident)
{
    struct proc *k = op->proc;

    cause_on_success(k);
    health_on_start(k);
    if (op->before)
        cause_restore_exit(k, op->before); /* the exited process was only its launcher */
    if (!op_is_ours(op))
        k->is_proven = false; /* a start that was asked for has to prove itself */
    host(op);
    core_set_ident(k, ident);
    op_note_begin(op, ident);
    cause_on_start(k);
    cause_set_text(&k->cause.left, NULL);
    core_ask_siblings(k);
    k->last_start_s = op->core->wall_ms / 1000;
    k->cause.has_finished = proc_policy_of(&k->spec).kind != PROC_RESIDENT;
    if (!op_is_ours(op))
        k->restarts = 0;
    journal_note_process(k);
    op_end(op, CODE_OK, "success");
}

void op_succeed(struct op *op, struct core_ident ident)
{
    switch (op_part(op)->outcome) {
    case MAKES_STOP: end_stopped(op); return;
    case MAKES_RUN: end_started(op, ident); return;
    case LEAVES_AS_IS:
        if (ident.pid && !op->proc->ident.pid)
            op_note_found(op->proc, ident); /* a reload may replace the process */
        cause_on_success(op->proc);
        if (core_is_known(op->proc))
            journal_note_process(op->proc);
        op_end(op, CODE_OK, "success");
        return;
    }
}

void op_fail_check(struct op *op, const char *why)
{
    op_fail_ready(op, op_part(op)->outcome == MAKES_STOP ? MSG("alive") : MSG("not alive"), why);
}

/* GSE's sentence is the same in every language, so the state in it is English, too. */
void op_fail_ready(struct op *op, const char *state, const char *why)
{
    char room[32];
    const char *english = msg_english(room, sizeof(room), state);
    const char *operation = op->half == HALF_STOP ? op_part(op)->name : op_row(op)->name;
    const char *name = op->proc->meta.name;

    if (!why || !*why) {
        op->reason = arena_msg(&op->arena, "%s at the post-check", state);
        op_end(op, CODE_CHECK,
               "%s process (%s) failed, for post-check status %s, please refer to agent log for "
               "details",
               operation, name, english);
        return;
    }
    op->reason = arena_msg(&op->arena, "%s at the post-check: %s", state, why);
    op_end(op, CODE_CHECK,
           "%s process (%s) failed, for post-check status %s, please refer to agent log for "
           "details: %s",
           operation, name, english, why);
}

/* For a start or restart it says what was found, as the final check does.  Job's calls treat a
 * process without a type as periodic, but many callers mean a daemon. */
static const char *late_reason(struct op *op)
{
    long long timeout_s = (long long)proc_policy_of(&op->command.spec).op_timeout_s;
    const char *late;

    if (op->is_preparing)
        return arena_msg(&op->arena, "the pre-start command ran longer than %lld s and was ended",
                         timeout_s);
    if (op->found)
        late = arena_msg(&op->arena, "the command ran longer than %lld s and was ended: %s",
                         timeout_s, op->found);
    else
        late = arena_msg(&op->arena, "the command ran longer than %lld s and was ended", timeout_s);
    if (op_is_once(op) && op->half != HALF_STOP)
        late = arena_msg(&op->arena,
                         "%s; a process that is to stay needs auto_type 1 (Job's type 1)", late);
    return late;
}

void op_fail_late(struct op *op, const char *output)
{
    op->output = arena_strdup(&op->arena, output);
    op->reason = late_reason(op);
    op_end(op, CODE_TIMEOUT, "%s; its output: [%s]", op->reason, output);
}

/* GSE has no sentence for it. */
static void fail_preparing(struct op *op, int status, const char *output)
{
    op->reason =
        status >= CORE_SIGNALED
            ? arena_msg(&op->arena, "the pre-start command was ended by signal %d",
                        status % CORE_SIGNALED)
            : arena_msg(&op->arena, "the pre-start command ended with exit code %d", status);
    op_end(op, CODE_COMMAND, "%s; its output: [%s]", op->reason, output);
}

/* Records how the command ended and its output, for the explanation of the failure. */
void op_fail_command(struct op *op, int status, const char *output)
{
    op->output = arena_strdup(&op->arena, output);
    if (op->is_preparing) {
        fail_preparing(op, status, output);
        return;
    }
    op->reason =
        status >= CORE_SIGNALED
            ? arena_msg(&op->arena, "the command was ended by signal %d", status % CORE_SIGNALED)
            : arena_msg(&op->arena, "the command ended with exit code %d", status);
    op_end(op, CODE_COMMAND, "Script exit code non-zero. Error msessage: [%s]", output);
}
