/* SPDX-License-Identifier: MIT */
/* core_ops.c - an operation, phase by phase.
 *
 * What the operations are stands in one table (core_rules.c); what a phase waits for is one
 * of the op_on_*() below; how one ends is core_end.c's. */
#include <signal.h>
#include <stdlib.h>

#include "agent/core_cause.h"
#include "agent/core_op.h"
#include "base/mem.h"

/* How long a process may take to die of SIGKILL before we look again, and of a reload. */
enum { KILL_MS = 5000, RELOAD_MS = 1000 };

/* When a command that has not begun yet (its user is being looked up) is looked at again,
 * and when one that runs is first asked whether it is the process, for those who watch. */
enum { AGAIN_MS = 200, PEEK_MS = 1000 };

static void set_timer(struct op *op, int64_t in_ms)
{
    timers_set(&op->core->timers, &op->timer, op->core->now_ms + in_ms);
}

static int64_t op_timeout_ms(const struct op *op)
{
    return proc_policy_of(&op->command.spec).op_timeout_s * 1000;
}

/* After a start or restart command the process may be another than before; who was seen
 * meanwhile is no answer to whether it is up. */
static void ask_who(struct op *op, bool is_peek)
{
    const struct kept *k = op->kept;
    const struct core_look look = {
        .id = op->id,
        .question = ++op->questions,
        .space = k->meta.space,
        .name = k->meta.name,
        .identity = &op->command.spec.identity,
        .known = op->phase == PHASE_CHECK && op_starts(op) ? op->old : k->ident,
        .start = k->start,
        .self =
            op->phase == PHASE_SELF || op->phase == PHASE_RUN ? op->run : (struct core_ident){ 0 },
        .is_renewed = op->phase != PHASE_LOOK && op_starts(op),
        .is_doubtful = k->is_unseen || op->core->now_ms < k->doubt_ms,
        .instances = op_instances(op),
        .is_peek = is_peek,
        .wants_view = op->command.op == PROC_OP_QUERY,
        .since_ms = op->phase == PHASE_LOOK && op->asked_ms ? op->asked_ms : op->core->now_ms,
    };

    op->core->hands->probe(op->core->arg, &look);
}

static void look(struct op *op, enum phase phase)
{
    op->phase = phase;
    ask_who(op, false);
}

/* ---- its command, or its signal */

/* One that is to stay is looked at while its command still runs, which may be the
 * process itself; one that is to end has all the time there is. */
static bool may_stay(const struct op *op)
{
    return op_starts(op) && proc_policy_of(&op->command.spec).kind == PROC_RESIDENT;
}

/* Its command is the whole of it: how that ends, and what it says last, is the process's. */
static bool is_once(const struct op *op)
{
    return op_starts(op) && !may_stay(op);
}

static void watch_once(struct op *op)
{
    if (is_once(op))
        op->core->hands->watch(op->core->arg, op->run);
}

static void set_run_timer(struct op *op)
{
    int64_t timeout_ms = op_timeout_ms(op), check_ms = timeout_ms;

    if (may_stay(op))
        check_ms = proc_policy_of(&op->command.spec).start_check_s * 1000;
    check_ms = check_ms < timeout_ms ? check_ms : timeout_ms;
    op->run_end_ms = op->core->now_ms + timeout_ms;
    op->self_ms = op->core->now_ms + check_ms;
    set_timer(op, check_ms > PEEK_MS ? PEEK_MS : check_ms);
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

/* A signal was sent. */
static void await_death(struct op *op)
{
    int64_t timeout_ms = op_timeout_ms(op);

    op->phase = PHASE_DYING;
    op->check_ms = op->core->now_ms + timeout_ms;
    set_timer(op, timeout_ms > PEEK_MS ? PEEK_MS : timeout_ms);
    op_queue_leave(op);
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
        op_end(op, CODE_NO_COMMAND, "spec.control.%s_cmd: required for this operation", part->name);
        return;
    }
    op->has_acted = true;
    book_run(op);
    op->core->hands->signal(op->core->arg, op->kept->ident, number, number == SIGKILL);
    await_death(op);
}

/* ---- who is there? */

static void looked(struct op *op, const struct core_probe *probe)
{
    const struct op_rule *r = op_rule(op);
    bool runs = probe->found == FOUND_IT;

    if (r->op == PROC_OP_QUERY) {
        op_end_query(op, probe);
    } else if (runs && (r->if_running || op_is_ours(op))) {
        op_end(op, CODE_RUNNING, "process (%s) is already running with pid %lld",
               op->kept->meta.name, (long long)probe->ident.pid);
    } else if (!runs && r->if_not) {
        if (r->outcome == MAKES_STOP)
            op_stop_hosting(op);
        op_end(op, r->if_not, "process (%s) is not running%s%s", op->kept->meta.name,
               probe->why && *probe->why ? ": " : "", probe->why ? probe->why : "");
    } else {
        op->stops_first =
            r->op == PROC_OP_RESTART && runs && !*op->command.spec.control.restart_cmd;
        begin_part(op);
    }
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
    int64_t settle_ms = RELOAD_MS;

    if (op_part(op)->outcome == MAKES_RUN)
        settle_ms = policy.start_check_s * 1000;
    else if (op_part(op)->outcome == MAKES_STOP)
        settle_ms = policy.stop_check_s * 1000;
    op->phase = PHASE_SETTLE;
    op->check_ms = op->core->now_ms + settle_ms;
    watch_settling(op);
}

/* ---- its beginning */

static void adopt(struct op *op)
{
    const struct core_adopt a = {
        op->id, op->kept->meta.space, op->kept->meta.name, op_part(op)->name, op->run, op->out_from
    };

    op->phase = PHASE_RUN;
    op->goes_first = op_is_ours(op);
    op_queue_seize(op);
    set_run_timer(op);
    op->core->hands->adopt(op->core->arg, &a);
    watch_once(op);
}

/* What a reload did can not be seen, nor what came of a process that is not to stay. */
static bool leaves_no_trace(const struct op *op)
{
    return op->command.op == PROC_OP_RELOAD || is_once(op);
}

/* The agent died while this was carried out: it is not run again, we look what
 * has become of it. */
static void resume(struct op *op)
{
    op->was_running = false;
    op->has_acted = true;
    note_old(op);
    if (op->run.pid <= 0 && leaves_no_trace(op)) {
        op_end(op, CODE_SYSTEM, "agent restarted during the command, outcome unknown");
    } else if (op->run.pid < 0) {
        op->run = (struct core_ident){ 0 };
        op->phase = PHASE_SETTLE; /* it may or may not have begun: it has all its time */
        op->check_ms = 0;
        set_timer(op, op_timeout_ms(op));
    } else if (op->run.pid) {
        adopt(op);
    } else if (op_rule(op)->outcome == LEAVES_AS_IS) {
        look(op, PHASE_LOOK);
    } else if (!*op_line(op) && op->kept->ident.pid) {
        await_death(op);
    } else {
        give_time_to_settle(op); /* it may just have begun, or be about to end */
    }
}

/* It is not begun late, however long nobody can say who is there. */
static void look_first(struct op *op)
{
    if (!op_is_ours(op))
        set_timer(op, op->deadline_ms - op->core->now_ms);
    look(op, PHASE_LOOK);
}

void op_wait_for_slot(struct op *op, bool goes_first)
{
    op->phase = PHASE_QUEUE;
    timers_stop(&op->core->timers, &op->timer);
    if (!op_is_ours(op) && !op->has_acted)
        set_timer(op, op->deadline_ms - op->core->now_ms);
    op_queue_enter(op, goes_first);
}

void op_on_slot(struct op *op)
{
    if (!op->has_acted) {
        look_first(op);
        return;
    }
    op->stops_first = false; /* the process is down; now for the other half */
    begin_part(op);
}

static void end_unbegun(struct op *op)
{
    op_end(op, CODE_TIMEOUT, "not begun: its deadline passed while it waited");
}

static void begin(struct op *op)
{
    const struct op_rule *r = op_rule(op);
    const char *what;
    int lacks;

    op_use_known_spec(op);
    lacks = op_lacks(op, &what);
    if (!r)
        op_end(op, CODE_UNKNOWN_OP, "op_type %lld: no such operation", (long long)op->command.op);
    else if (op->was_running && r->looks)
        resume(op);
    else if (!op_is_ours(op) && op->core->now_ms >= op->deadline_ms)
        end_unbegun(op);
    else if (lacks)
        op_end(op, lacks, "%s", what);
    else if (!r->looks)
        op_set_hosting(op);
    else if (r->op == PROC_OP_QUERY)
        look_first(op);
    else
        op_wait_for_slot(op, op_is_ours(op));
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
    else if (op->phase == PHASE_QUEUE)
        op_queue_grant(k->core); /* a restart had come before it */
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
    if (began->fits && may_stay(op))
        op_queue_leave(op);
}

void op_on_run_end(struct op *op, int status, const char *output)
{
    const struct op_rule *part = op_part(op);
    struct core_ident run = op->run;

    op->run = (struct core_ident){ 0 };
    if (op->phase != PHASE_RUN && op->phase != PHASE_SELF)
        return;
    op_queue_leave(op);
    if (is_once(op))
        cause_on_exit(op->kept, run, status);
    if (status == CORE_STATUS_UNKNOWN && !op->is_late)
        resume(op); /* the command of an agent before us: what has become of it? */
    else if (status != 0 || op->is_late)
        op_fail_command(op, status, output);
    else if (part->outcome == MAKES_STOP && !op->kept->ident.pid)
        op_succeed(op, (struct core_ident){ 0 });
    else if (is_once(op))
        op_succeed(op, (struct core_ident){ 0 }); /* judged by its exit code alone */
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

/* Whether it stays is seen later; while it does, it holds up nobody. */
static void peeked(struct op *op, const struct core_probe *probe)
{
    op->seen = probe->ident;
    note_found(op->kept, probe->ident);
    core_tell_change(op->kept);
    op_queue_leave(op);
}

void op_on_probe(struct op *op, const struct core_probe *probe)
{
    bool runs = probe->found == FOUND_IT;

    if (probe->question && probe->question != op->questions)
        return; /* late: it is about something else by now */
    if (op->phase == PHASE_LOOK) {
        op->kept->is_unseen = false;
        note_found(op->kept, runs ? probe->ident : (struct core_ident){ 0 });
        looked(op, probe);
    } else if (op->phase == PHASE_SELF && runs) {
        op_succeed(op, probe->ident);
    } else if (op->phase == PHASE_SELF) {
        op->phase = PHASE_RUN; /* a slow command, and not the process itself */
    } else if ((op->phase == PHASE_RUN || op->phase == PHASE_SETTLE) && runs && op_starts(op)) {
        peeked(op, probe);
    } else if (op->phase == PHASE_CHECK) {
        op->kept->is_unseen = false;
        if (runs == (op_part(op)->outcome != MAKES_STOP))
            op_succeed(op, probe->ident);
        else
            op_fail_check(op, probe->why);
    }
}

void op_before_exit(struct op *op, struct core_ident ident)
{
    if (op->has_before || ident.pid != op->seen.pid || ident.start_ticks != op->seen.start_ticks)
        return;
    op->has_before = true;
    op->before = op->kept->cause;
    if (op->before.output)
        op->before.output = arena_strdup(&op->arena, op->before.output);
}

void op_on_exit(struct op *op)
{
    if (op_rule(op) && op_part(op)->outcome == MAKES_STOP &&
        (op->phase == PHASE_SETTLE || op->phase == PHASE_DYING))
        op_succeed(op, (struct core_ident){ 0 });
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
        if (may_stay(op))
            ask_who(op, true);
    } else {
        /* Again and again: a slow script may become it, or start it, at any time. */
        int64_t left_ms = op->run_end_ms - now_ms;

        set_timer(op, left_ms > PEEK_MS ? PEEK_MS : left_ms);
        if (op->phase != PHASE_SELF)
            look(op, PHASE_SELF);
    }
}

static void on_dying_timer(struct op *op)
{
    struct core *c = op->core;

    if (c->now_ms < op->check_ms) {
        set_timer(op, op->check_ms - c->now_ms);
        return;
    }
    op->is_killed = true;
    set_timer(op, KILL_MS);
    c->hands->signal(c->arg, op->kept->ident, SIGKILL, true);
}

/* What takes its time is worth telling of: whoever looks sees what is being done. */
static void tell_doing(struct op *op)
{
    if (!op->is_told)
        core_tell_process(op->kept);
    op->is_told = true;
}

static void on_timer(void *arg)
{
    struct op *op = arg;

    if (op->phase == PHASE_JOURNAL || op->phase == PHASE_QUEUE) {
        end_unbegun(op);
        return;
    }
    tell_doing(op);
    if (op->phase == PHASE_LOOK) {
        op_end(op, CODE_TIMEOUT, "not begun: nobody could say in time who is there");
    } else if (op->phase == PHASE_RUN || op->phase == PHASE_SELF) {
        on_run_timer(op);
    } else if (op->phase == PHASE_SETTLE && op->core->now_ms < op->check_ms) {
        watch_settling(op);
    } else if (op->phase == PHASE_SETTLE || (op->phase == PHASE_DYING && op->is_killed)) {
        set_timer(op, op_timeout_ms(op));
        look(op, PHASE_CHECK);
    } else if (op->phase == PHASE_CHECK) {
        op_end(op, CODE_SYSTEM, "its command was run, but nobody could say in time who is there");
    } else if (op->phase == PHASE_DYING) {
        on_dying_timer(op);
    }
}

/* It may wait long for its turn, but not longer than its deadline. */
static void has_come(struct op *op)
{
    struct core *c = op->core;
    const struct message_ref ref = { op->command.task, op->command.item };

    op->is_durable = true;
    c->hands->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
    if (op->is_refused) {
        op_end(op, CODE_LOCKED, "too many operations wait for this process");
        return;
    }
    if (TAILQ_FIRST(&op->kept->ops) != op && !op->was_running)
        set_timer(op, op->deadline_ms - c->now_ms);
    op_begin_next(op->kept);
}

void op_on_durable(struct op *op)
{
    struct kept *k = op->kept;

    if (op->phase == PHASE_JOURNAL) {
        has_come(op);
        return;
    }
    book_done(op->core, &op->result, op->deadline_ms);
    op_free(op);
    op_begin_next(k);
}

/* ---- its life */

struct op *op_new(struct core *c, const struct message_command *command)
{
    struct op *op = pool_get(&c->ops);
    struct kept *k = core_kept(c, command->meta.space, command->meta.name);

    arena_init_in(&op->arena, op + 1, OP_BYTES - sizeof(*op));
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
    op_queue_drop(op);
    TAILQ_REMOVE(&op->kept->ops, op, link);
    map_del(&op->core->by_id, (const char *)&op->id, sizeof(op->id));
    if (*op->command.task)
        map_del_str(&op->core->commands, op->key);
    arena_free(&op->arena);
    pool_put(&op->core->ops, op);
}
