/* SPDX-License-Identifier: MIT */
/* core_ops.c - an operation, phase by phase.
 *
 * What the operations are stands in one table; what a phase waits for is one of
 * the op_on_*() below.  An operation ends in finish(), whatever happens. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core_in.h"
#include "agent/core_op.h"
#include "base/mem.h"

/* How long a process may take to die of SIGKILL before we look again. */
enum { KILL_MS = 5000 };

/* When a command that has not begun yet (its user is being looked up) is looked at again,
 * and when one that runs is first asked whether it is the process, for those who watch. */
enum { AGAIN_MS = 200, PEEK_MS = 1000 };

static bool is_ours(const struct op *op)
{
    return !*op->command.task;
}

static void set_timer(struct op *op, int64_t in_ms)
{
    timers_set(&op->core->timers, &op->timer, op->core->now_ms + in_ms);
}

/* After a start or restart command the process may be another than before; who was seen
 * meanwhile is no answer to whether it is up. */
static void ask_who(struct op *op, bool is_peek)
{
    const struct kept *k = op->kept;
    const struct core_look look = {
        .id = op->id,
        .space = k->meta.space,
        .name = k->meta.name,
        .identity = &op->command.spec.identity,
        .known = op->phase == PHASE_CHECK && op_starts(op) ? op->old : k->ident,
        .start = k->start,
        .self =
            op->phase == PHASE_SELF || op->phase == PHASE_RUN ? op->run : (struct core_ident){ 0 },
        .is_renewed = op->phase != PHASE_LOOK && op_starts(op),
        .is_peek = is_peek,
    };

    op->core->hands->probe(op->core->arg, &look);
}

static void look(struct op *op, enum phase phase)
{
    op->phase = phase;
    ask_who(op, false);
}

static void finish_ours(struct op *op, int code)
{
    struct kept *k = op->kept;
    char why[sizeof(k->why)];

    memcpy(why, k->why, sizeof(why));
    op_free(op);
    keep_on_done(k, code, why);
}

/* What only looks, or changed nothing, is no reason for what the process is. */
static void note_why(struct op *op, int code, const char *text)
{
    const struct op_rule *r = op_rule(op);

    if (r && !op->is_refused &&
        (r->outcome != LEAVES_AS_IS || (code != CODE_OK && r->op != PROC_OP_QUERY)))
        snprintf(op->kept->why, sizeof(op->kept->why), "%s: %s", r->name, text);
}

/* The outcome is known.  It is told when it is in the journal; what is our own
 * business goes to the keeper. */
static void finish_with(struct op *op, int code, const struct proc_view *seen, const char *text)
{
    struct kept *k = op->kept;

    timers_stop(&op->core->timers, &op->timer);
    note_why(op, code, text);
    if (is_ours(op)) {
        finish_ours(op, code);
        return;
    }
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
    op->phase = PHASE_SYNC;
    op->mark = book_result(op);
    TAILQ_INSERT_TAIL(&op->core->waiting, op, waiting);
    keep_look(k); /* the disk may keep us waiting */
}

static void finish(struct op *op, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void finish(struct op *op, int code, const char *fmt, ...)
{
    char text[9000];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    finish_with(op, code, NULL, text);
}

static void stop_hosting(struct op *op)
{
    struct kept *k = op->kept;

    k->hosted = false;
    k->wanted = PROC_STOPPED;
    timers_stop(&op->core->timers, &k->timer);
    book_process(k);
}

static void use_spec(struct op *op)
{
    struct kept *k = op->kept;

    if (is_ours(op))
        return; /* it is the one that is there */
    arena_reset(&k->arena);
    proc_spec_copy(&op->command.spec, &k->arena, &k->spec);
    k->has_spec = true;
    k->hosted = true;
    k->wanted = PROC_RUNNING;
    k->tries = 0;
}

static void begin_part(struct op *op);

/* The process is where this part of the operation should bring it. */
static void succeed(struct op *op, struct core_ident ident)
{
    const struct op_rule *part = op_part(op);
    struct kept *k = op->kept;

    if (part->outcome == MAKES_STOP) {
        core_set_ident(k, (struct core_ident){ 0 });
        if (op->stops_first) {
            op->stops_first = false;
            begin_part(op);
            return;
        }
        stop_hosting(op);
    } else if (part->outcome == MAKES_RUN) {
        use_spec(op);
        core_set_ident(k, ident);
        k->last_start_s = op->core->wall_ms / 1000;
        if (!is_ours(op))
            k->restarts = 0;
        book_process(k);
    }
    finish(op, CODE_OK, "success");
}

static void fail_check(struct op *op, const char *why)
{
    const struct op_rule *r = op_rule(op);

    finish(op, CODE_CHECK,
           "%s process (%s) failed, for post-check status %s, please refer to agent log for "
           "details%s%s",
           op->stops_first ? "stop" : r->name, op->kept->meta.name,
           op_part(op)->outcome == MAKES_STOP ? "alive" : "not alive", why && *why ? ": " : "",
           why ? why : "");
}

/* One that is to stay is looked at while its command still runs, which may be the
 * process itself; one that is to end has all the time there is. */
static void set_run_timer(struct op *op)
{
    struct proc_policy policy = proc_policy_of(&op->command.spec);
    int64_t timeout_ms = policy.op_timeout_s * 1000, check_ms = policy.start_check_s * 1000;
    bool may_stay = op_starts(op) && policy.kind == PROC_RESIDENT;

    check_ms = may_stay && check_ms < timeout_ms ? check_ms : timeout_ms;
    op->run_end_ms = op->core->now_ms + timeout_ms;
    op->self_ms = op->core->now_ms + check_ms;
    set_timer(op, may_stay && check_ms > PEEK_MS ? PEEK_MS : check_ms);
}

/* A restart command may leave the process as it is, and only make it begin anew. */
static void note_old(struct op *op)
{
    if (op_part(op)->op == PROC_OP_RESTART)
        op->old = op->kept->ident;
}

static void start_run(struct op *op, const char *line)
{
    struct core_run run = { op->id,
                            op->command.task,
                            op->command.item,
                            op->kept->meta.space,
                            op->kept->meta.name,
                            op_part(op)->name,
                            line,
                            &op->command.spec.identity,
                            &op->command.spec.extra.env };

    op->phase = PHASE_RUN;
    op->run = (struct core_ident){ .pid = -1 };
    op->has_acted = true;
    note_old(op);
    book_run(op);
    set_run_timer(op);
    op->core->hands->run(op->core->arg, &run);
}

static void begin_part(struct op *op)
{
    const struct op_rule *part = op_part(op);
    const char *line = op_line(op);
    int number = part->signal == SIGTERM ? (int)op->command.spec.extra.stop_signal : part->signal;

    if (*line) {
        start_run(op, line);
        return;
    }
    if (!part->signal) {
        finish(op, CODE_NO_COMMAND, "spec.control.%s_cmd: required for this operation", part->name);
        return;
    }
    op->phase = PHASE_DYING;
    op->has_acted = true;
    book_run(op);
    set_timer(op, proc_policy_of(&op->command.spec).op_timeout_s * 1000);
    op->core->hands->signal(op->core->arg, op->kept->ident, number, number == SIGKILL);
}

static void looked(struct op *op, const struct core_probe *probe)
{
    const struct op_rule *r = op_rule(op);
    bool runs = probe->found == FOUND_IT;

    if (r->op == PROC_OP_QUERY) {
        finish_with(op, CODE_OK, runs ? &probe->view : NULL, "success");
    } else if (runs && (r->if_running || is_ours(op))) {
        finish(op, CODE_RUNNING, "process (%s) is already running with pid %lld",
               op->kept->meta.name, (long long)probe->ident.pid);
    } else if (!runs && r->if_not) {
        if (r->outcome == MAKES_STOP)
            stop_hosting(op);
        finish(op, r->if_not, "process (%s) is not running%s%s", op->kept->meta.name,
               probe->why && *probe->why ? ": " : "", probe->why ? probe->why : "");
    } else {
        op->stops_first =
            r->op == PROC_OP_RESTART && runs && !*op->command.spec.control.restart_cmd;
        begin_part(op);
    }
}

/* Hosting on or off needs no command and looks at nothing. */
static void set_hosting(struct op *op)
{
    struct kept *k = op->kept;

    timers_stop(&op->core->timers, &k->timer); /* it is set anew when this is done */
    if (op->command.op == PROC_OP_HOST)
        use_spec(op);
    else
        k->hosted = false;
    book_process(k);
    finish(op, CODE_OK, "success");
}

/* Those who watch hear of it as soon as it can be seen: a daemon may be slow with its pid
 * file, or have been seen while it was still forking. */
static void watch_settling(struct op *op)
{
    int64_t left_ms = op->check_ms - op->core->now_ms;

    set_timer(op, op_starts(op) && left_ms > PEEK_MS ? PEEK_MS : left_ms);
    if (op_starts(op))
        ask_who(op, true);
}

static void give_time_to_settle(struct op *op)
{
    struct proc_policy policy = proc_policy_of(&op->command.spec);
    int64_t check_s = op_starts(op) ? policy.start_check_s : policy.stop_check_s;

    op->phase = PHASE_SETTLE;
    op->check_ms = op->core->now_ms + check_s * 1000;
    watch_settling(op);
}

static void adopt(struct op *op)
{
    const struct core_adopt a = {
        op->id, op->kept->meta.space, op->kept->meta.name, op_part(op)->name, op->run, op->out_from
    };

    op->phase = PHASE_RUN;
    set_run_timer(op);
    op->core->hands->adopt(op->core->arg, &a);
}

/* The agent died while this was carried out: it is not run again, we look what
 * has become of it. */
static void resume(struct op *op)
{
    op->was_running = false;
    note_old(op);
    if (op->run.pid <= 0 && op->command.op == PROC_OP_RELOAD) {
        finish(op, CODE_SYSTEM, "agent restarted during the command, outcome unknown");
    } else if (op->run.pid < 0) {
        op->run = (struct core_ident){ 0 };
        op->phase = PHASE_SETTLE; /* it may or may not have begun: it has all its time */
        op->check_ms = 0;
        set_timer(op, proc_policy_of(&op->command.spec).op_timeout_s * 1000);
    } else if (op->run.pid) {
        adopt(op);
    } else if (op_rule(op)->outcome == LEAVES_AS_IS) {
        look(op, PHASE_LOOK);
    } else {
        give_time_to_settle(op); /* it may just have begun, or be about to end */
    }
}

/* It is not begun late, however long nobody can say who is there. */
static void look_first(struct op *op)
{
    if (!is_ours(op))
        set_timer(op, op->deadline_ms - op->core->now_ms);
    look(op, PHASE_LOOK);
}

static void begin(struct op *op)
{
    const struct op_rule *r = op_rule(op);
    const char *what;
    int lacks;

    op_use_known_spec(op);
    lacks = op_lacks(op, &what);
    if (!r)
        finish(op, CODE_UNKNOWN_OP, "op_type %lld: no such operation", (long long)op->command.op);
    else if (op->was_running && r->looks)
        resume(op);
    else if (!is_ours(op) && op->core->now_ms >= op->deadline_ms)
        finish(op, CODE_TIMEOUT, "not begun: its deadline passed while it waited");
    else if (lacks)
        finish(op, lacks, "%s", what);
    else if (!r->looks)
        set_hosting(op);
    else
        look_first(op);
}

void op_begin_next(struct kept *k)
{
    struct op *op = TAILQ_FIRST(&k->ops);

    if (!op && !core_is_known(k))
        core_forget(k);
    else if (!op)
        keep_look(k);
    else if (op->phase == PHASE_JOURNAL && op->is_durable)
        begin(op);
}

void op_on_run(struct op *op, const struct core_began *began, const struct err *failure)
{
    if (op->phase != PHASE_RUN)
        return;
    if (failure) {
        bool is_of_contract = failure->code >= ERR_BASE_CODES; /* unknown user, say */

        op->run = (struct core_ident){ 0 };
        finish(op, is_of_contract ? failure->code : CODE_COMMAND, "%s", failure->text);
        return;
    }
    op->run = began->ident;
    op->out_from = began->out_from;
    if (op_starts(op))
        op->kept->start = began->ident;
    book_run(op);
}

void op_on_run_end(struct op *op, int status, const char *output)
{
    const struct op_rule *part = op_part(op);

    op->run = (struct core_ident){ 0 };
    if (op->phase != PHASE_RUN && op->phase != PHASE_SELF)
        return;
    if (op->is_late)
        finish(op, CODE_TIMEOUT,
               "the command ran longer than %lld s and was ended; its output: [%s]",
               (long long)proc_policy_of(&op->command.spec).op_timeout_s, output);
    else if (status == CORE_STATUS_UNKNOWN)
        resume(op); /* the command of an agent before us: what has become of it? */
    else if (status != 0)
        finish(op, CODE_COMMAND, "Script exit code non-zero. Error msessage: [%s]", output);
    else if (part->outcome == LEAVES_AS_IS)
        finish(op, CODE_OK, "success");
    else if (part->outcome == MAKES_STOP && !op->kept->ident.pid)
        succeed(op, (struct core_ident){ 0 });
    else if (part->outcome == MAKES_RUN && proc_policy_of(&op->command.spec).kind != PROC_RESIDENT)
        succeed(op, (struct core_ident){ 0 }); /* judged by its exit code alone */
    else
        give_time_to_settle(op);
}

/* A process that is known by its identity must be after a crash of ours, too. */
static void note_found(struct kept *k, struct core_ident ident)
{
    bool is_new = ident.pid != k->ident.pid || ident.start_ticks != k->ident.start_ticks;

    core_set_ident(k, ident);
    if (is_new && core_is_known(k))
        book_process(k);
}

void op_on_probe(struct op *op, const struct core_probe *probe)
{
    struct kept *k = op->kept;
    bool runs = probe->found == FOUND_IT;

    if (op->phase == PHASE_LOOK) {
        note_found(k, runs ? probe->ident : (struct core_ident){ 0 });
        looked(op, probe);
    } else if (op->phase == PHASE_SELF && runs) {
        succeed(op, probe->ident);
    } else if (op->phase == PHASE_SELF) {
        op->phase = PHASE_RUN; /* a slow command, and not the process itself */
    } else if ((op->phase == PHASE_RUN || op->phase == PHASE_SETTLE) && runs && op_starts(op)) {
        note_found(k, probe->ident); /* whether it stays is seen later */
        core_tell_change(k);
    } else if (op->phase == PHASE_CHECK) {
        if (runs == (op_part(op)->outcome == MAKES_RUN))
            succeed(op, probe->ident);
        else
            fail_check(op, probe->why);
    }
}

void op_on_exit(struct op *op)
{
    if (op_rule(op) && op_part(op)->outcome == MAKES_STOP &&
        (op->phase == PHASE_SETTLE || op->phase == PHASE_DYING))
        succeed(op, (struct core_ident){ 0 });
}

/* One that hangs in the kernel does not even die of SIGKILL: others need not wait for it. */
static void end_command(struct op *op)
{
    struct core *c = op->core;

    if (op->is_late) {
        finish(op, CODE_TIMEOUT, "the command ran longer than %lld s and can not be ended",
               (long long)proc_policy_of(&op->command.spec).op_timeout_s);
        return;
    }
    op->is_late = true;
    op->phase = PHASE_RUN;
    set_timer(op, KILL_MS);
    c->hands->end_run(c->arg, op->id);
}

static void on_run_timer(struct op *op)
{
    int64_t now_ms = op->core->now_ms;

    if (now_ms >= op->run_end_ms) {
        end_command(op);
    } else if (op->run.pid < 0) {
        set_timer(op, AGAIN_MS);
    } else if (now_ms < op->self_ms) {
        set_timer(op, op->self_ms - now_ms);
        ask_who(op, true);
    } else {
        set_timer(op, op->run_end_ms - now_ms);
        look(op, PHASE_SELF);
    }
}

static void on_timer(void *arg)
{
    struct op *op = arg;
    struct core *c = op->core;

    if (op->phase == PHASE_LOOK) {
        finish(op, CODE_TIMEOUT, "not begun: nobody could say in time who is there");
    } else if (op->phase == PHASE_RUN || op->phase == PHASE_SELF) {
        on_run_timer(op);
    } else if (op->phase == PHASE_SETTLE && c->now_ms < op->check_ms) {
        watch_settling(op);
    } else if (op->phase == PHASE_SETTLE || (op->phase == PHASE_DYING && op->is_killed)) {
        set_timer(op, proc_policy_of(&op->command.spec).op_timeout_s * 1000);
        look(op, PHASE_CHECK);
    } else if (op->phase == PHASE_CHECK) {
        finish(op, CODE_SYSTEM, "its command was run, but nobody could say in time who is there");
    } else if (op->phase == PHASE_DYING) {
        op->is_killed = true;
        set_timer(op, KILL_MS);
        c->hands->signal(c->arg, op->kept->ident, SIGKILL, true);
    }
}

void op_on_durable(struct op *op)
{
    struct kept *k = op->kept;
    struct core *c = op->core;
    struct message_ref ref = { op->command.task, op->command.item };

    if (op->phase == PHASE_JOURNAL) {
        op->is_durable = true;
        c->hands->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
        if (op->is_refused)
            finish(op, CODE_LOCKED, "too many operations wait for this process");
        else
            op_begin_next(k);
        return;
    }
    book_done(c, &op->result, op->deadline_ms);
    op_free(op);
    op_begin_next(k);
}

struct op *op_new(struct core *c, const struct message_command *command)
{
    struct op *op = xalloc(sizeof(*op));
    struct kept *k = core_kept(c, command->meta.space, command->meta.name);

    op->core = c;
    op->kept = k;
    op->id = ++c->next_id;
    op->command = *command;
    op->command.task = arena_strdup(&op->arena, command->task);
    op->command.meta = k->meta;
    proc_spec_copy(&command->spec, &op->arena, &op->command.spec);
    timer_init(&op->timer, on_timer, op);
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
    TAILQ_REMOVE(&op->kept->ops, op, link);
    map_del(&op->core->by_id, (const char *)&op->id, sizeof(op->id));
    if (*op->command.task)
        map_del_str(&op->core->commands, op->key);
    arena_free(&op->arena);
    free(op);
}
