/* SPDX-License-Identifier: MIT */
/* core_ops.c - an operation, phase by phase.
 *
 * What the operations are stands in one table (core_rules.c); what a phase waits for is one
 * of the op_on_*() below; its command is core_run.c's, how it ends core_end.c's. */
#include <signal.h>
#include <stdlib.h>

#include "agent/core_cancel.h"
#include "agent/core_care.h"
#include "agent/core_cause.h"
#include "agent/core_ready.h"
#include "agent/core_step.h"
#include "base/mem.h"

/* What a process may take for a reload. */
enum { RELOAD_MS = 1000 };

void op_set_timer(struct op *op, int64_t in_ms)
{
    timers_set(&op->core->timers, &op->timer, op->core->now_ms + in_ms);
}

int64_t op_timeout_ms(const struct op *op)
{
    return proc_policy_of(&op->command.spec).op_timeout_s * 1000;
}

/* What may be the process itself: that which it says, or its command. */
static struct core_ident self_of(const struct op *op)
{
    struct core_ident main = ready_main(op);

    if (main.pid)
        return main;
    return op->phase == PHASE_SELF || op->phase == PHASE_RUN ? op->run : main;
}

/* After a start or restart command the process may be another than before; who was seen
 * meanwhile is no answer to whether it is up. */
void op_ask_who(struct op *op, enum ask ask)
{
    const struct kept *k = op->kept;
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
        .is_renewed = op->phase != PHASE_LOOK && op_starts(op),
        .is_doubtful = k->is_unseen || op->core->now_ms < k->doubt_ms,
        .instances = op_instances(op),
        .is_peek = ask != ASK_FOR_GOOD,
        .by_pid_file = ask == ASK_PID_FILE,
        .wants_view = op->command.op == PROC_OP_QUERY,
        .since_ms = op->phase == PHASE_LOOK && op->asked_ms ? op->asked_ms : op->core->now_ms,
    };

    op->core->hands->probe(op->core->arg, &look);
}

void op_look(struct op *op, enum phase phase)
{
    op->phase = phase;
    op_ask_who(op, ready_is_missing(op) ? ASK_PEEK : ASK_FOR_GOOD);
}

/* ---- who is there? */

static void looked(struct op *op, const struct core_probe *probe)
{
    const struct op_rule *r = op_rule(op);
    bool runs = probe->found == FOUND_IT;

    if (r->op == PROC_OP_QUERY) {
        op_end_query(op, probe);
    } else if (runs && op->aim == AIM_LIMIT && !core_is_same(probe->ident, op->old)) {
        op_end(op, CODE_NOT_RUNNING, "the one that used too much has ended");
    } else if (runs && (r->if_running ||
                        (op_is_ours(op) && (op->aim == AIM_KEEP || op->aim == AIM_CYCLE)))) {
        op_end(op, CODE_RUNNING, "process (%s) is already running with pid %lld",
               op->kept->meta.name, (long long)probe->ident.pid);
    } else if (!runs && r->if_not) {
        if (r->outcome == MAKES_STOP && !op_is_ours(op))
            op_stop_hosting(op);
        op_end(op, r->if_not, "process (%s) is not running%s%s", op->kept->meta.name,
               probe->why && *probe->why ? ": " : "", probe->why ? probe->why : "");
    } else {
        op->stops_first =
            r->op == PROC_OP_RESTART && runs && !*op->command.spec.control.restart_cmd;
        op_begin_part(op);
    }
}

/* Those who watch hear of it as soon as it can be seen: a daemon may be slow with its pid
 * file, or have been seen while it was still forking. */
static void watch_settling(struct op *op)
{
    int64_t left_ms = op->check_ms - op->core->now_ms;

    op_set_timer(op, op_starts(op) && left_ms > PEEK_MS ? PEEK_MS : left_ms);
    if (op_starts(op) && !(op->ready && op->kept->ident.pid))
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
    op->phase = PHASE_SETTLE;
    ready_settle(op);
    op->check_ms = op->ready ? INT64_MAX : op->core->now_ms + settle_ms;
    watch_settling(op);
}

/* ---- its beginning */

/* What a reload did can not be seen, nor what came of a process that is not to stay. */
static bool leaves_no_trace(const struct op *op)
{
    return op->command.op == PROC_OP_RELOAD || op_is_once(op);
}

/* The agent died while this was carried out: it is not run again, we look what
 * has become of it. */
void op_resume(struct op *op)
{
    op->was_running = false;
    op->has_acted = op->is_resumed = true;
    op_note_old(op);
    if (op->run.pid <= 0 && leaves_no_trace(op)) {
        op_end(op, CODE_SYSTEM, "agent restarted during the command, outcome unknown");
    } else if (op->run.pid < 0) {
        op->run = (struct core_ident){ 0 };
        op->phase = PHASE_SETTLE; /* it may or may not have begun: it has all its time */
        ready_settle(op);
        op->check_ms = op->ready ? INT64_MAX : 0;
        op_set_timer(op, op->ready ? PEEK_MS : op_timeout_ms(op));
    } else if (op->run.pid) {
        op_adopt(op);
    } else if (op_rule(op)->outcome == LEAVES_AS_IS) {
        op_look(op, PHASE_LOOK);
    } else if (!*op_line(op) && op->kept->ident.pid) {
        op_await_death(op);
    } else {
        op_give_time_to_settle(op); /* it may just have begun, or be about to end */
    }
}

/* It is not begun late, however long nobody can say who is there. */
static void look_first(struct op *op)
{
    if (!op_is_ours(op))
        op_set_timer(op, op->deadline_ms - op->core->now_ms);
    op_look(op, PHASE_LOOK);
}

void op_wait_for_slot(struct op *op, bool goes_first)
{
    op->phase = PHASE_QUEUE;
    timers_stop(&op->core->timers, &op->timer);
    if (!op_is_ours(op) && !op->has_acted)
        op_set_timer(op, op->deadline_ms - op->core->now_ms);
    op_queue_enter(op, goes_first);
}

void op_on_slot(struct op *op)
{
    if (!op->has_acted) {
        look_first(op);
        return;
    }
    op->stops_first = false; /* the process is down; now for the other half */
    op_begin_part(op);
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
        op_resume(op);
    else if (!op_is_ours(op) && op->core->now_ms >= op->deadline_ms)
        end_unbegun(op);
    else if (lacks)
        op_end(op, lacks, "%s", what);
    else if (!r->looks)
        op_set_hosting(op);
    else if (r->op == PROC_OP_QUERY)
        look_first(op);
    else
        op_wait_for_slot(op, op_goes_first(op));
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

/* A process that is known by its identity must be after a crash of ours, too. */
static void note_found(struct kept *k, struct core_ident ident)
{
    bool is_new = !core_is_same(ident, k->ident);

    core_set_ident(k, ident);
    if (is_new && core_is_known(k))
        book_process(k);
}

/* Whether it stays is seen later; while it does, it holds up nobody. */
void op_on_peek(struct op *op, const struct core_probe *probe)
{
    op->seen = probe->ident;
    note_found(op->kept, probe->ident);
    core_tell_change(op->kept);
    op_queue_leave(op);
}

/* Not up yet; who asked may have given it longer to be seen, once (Job's
 * start_check_end_time). */
static bool looks_again(struct op *op)
{
    int64_t left_ms = op->check_until_ms - op->core->now_ms;

    if (!op_starts(op) || left_ms <= 0)
        return false;
    op->phase = PHASE_SETTLE;
    op->check_ms = op->core->now_ms + (left_ms < PEEK_MS ? left_ms : PEEK_MS);
    op_set_timer(op, op->check_ms - op->core->now_ms);
    return true;
}

/* Should its command run until it is ended, that is why: it was not the process.  Of one that
 * is being ended nothing more is learned. */
static void note_instead(struct op *op, const struct core_probe *probe)
{
    bool is_of_run = op->phase == PHASE_RUN || op->phase == PHASE_SELF;

    if (is_of_run && !op->is_late && !ready_asks_file(op))
        cause_set_text(&op->found, probe->found == FOUND_IT ? NULL : probe->why);
}

void op_on_probe(struct op *op, const struct core_probe *probe)
{
    bool runs = probe->found == FOUND_IT;

    if (probe->question && probe->question != op->questions)
        return; /* late: it is about something else by now */
    note_instead(op, probe);
    if (ready_on_probe(op, probe))
        return;
    if (op->phase == PHASE_LOOK) {
        op->kept->is_unseen = false;
        note_found(op->kept, runs ? probe->ident : (struct core_ident){ 0 });
        looked(op, probe);
    } else if (op->phase == PHASE_SELF && runs) {
        op_succeed(op, probe->ident);
    } else if (op->phase == PHASE_SELF) {
        op->phase = PHASE_RUN; /* a slow command, and not the process itself */
    } else if ((op->phase == PHASE_RUN || op->phase == PHASE_SETTLE) && runs && op_starts(op)) {
        op_on_peek(op, probe);
    } else if (op->phase == PHASE_CHECK) {
        op->kept->is_unseen = false;
        if (runs == (op_part(op)->outcome != MAKES_STOP))
            op_succeed(op, probe->ident);
        else if (!looks_again(op))
            op_fail_check(op, probe->why);
    }
}

void op_before_exit(struct op *op, struct core_ident ident)
{
    if (op->has_before || !core_is_same(ident, op->seen))
        return;
    op->has_before = true;
    op->before = op->kept->cause;
    if (op->before.output)
        op->before.output = arena_strdup(&op->arena, op->before.output);
}

void op_on_exit(struct op *op)
{
    ready_on_exit(op);
    if (op_rule(op) && op_part(op)->outcome == MAKES_STOP &&
        (op->phase == PHASE_SETTLE || op->phase == PHASE_DYING))
        op_succeed(op, (struct core_ident){ 0 });
}

/* ---- time passes */

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
    } else if (op->phase == PHASE_ASK) {
        op_end_asked(op);
    } else if (op->phase == PHASE_RUN || op->phase == PHASE_SELF) {
        op_on_run_timer(op);
    } else if (op->phase == PHASE_SETTLE && op->core->now_ms < op->check_ms) {
        watch_settling(op);
    } else if (op->phase == PHASE_SETTLE || (op->phase == PHASE_DYING && op->is_killed)) {
        op_set_timer(op, op_timeout_ms(op));
        op_look(op, PHASE_CHECK);
    } else if (op->phase == PHASE_CHECK) {
        op_end(op, CODE_SYSTEM, "its command was run, but nobody could say in time who is there");
    } else if (op->phase == PHASE_DYING) {
        op_on_dying_timer(op);
    }
}

/* It may wait long for its turn, but not longer than its deadline. */
static void has_come(struct op *op)
{
    struct core *c = op->core;
    const struct message_ref ref = { op->command.task, op->command.item };

    op->is_durable = true;
    c->hands->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
    if (op_is_cancelled(op) && !op->was_running) {
        op_end_cancelled(op);
        return;
    }
    if (op->is_refused) {
        op_end(op, CODE_LOCKED, "too many operations wait for this process");
        return;
    }
    if (TAILQ_FIRST(&op->kept->ops) != op && !op->was_running)
        op_set_timer(op, op->deadline_ms - c->now_ms);
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
    op->status = CORE_STATUS_UNKNOWN;
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
    ready_end(op);
    care_forget(op->kept, op);
    op_queue_drop(op);
    TAILQ_REMOVE(&op->kept->ops, op, link);
    map_del(&op->core->by_id, (const char *)&op->id, sizeof(op->id));
    if (*op->command.task)
        map_del_str(&op->core->commands, op->key);
    cause_set_text(&op->found, NULL);
    arena_free(&op->arena);
    pool_put(&op->core->ops, op);
}
