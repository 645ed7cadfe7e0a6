/* SPDX-License-Identifier: MIT */
/* core_clear.c - PHASE_CLEAR: what is left of the family of a process is ended, before it is
 * started again, and after it was stopped.
 *
 * CLEAR_AWAIT: before a restart, the pid file, or the start command if it still lives, may bring a
 * new main process; it is adopted, and nothing is ended.  After a stop command, the family gets
 * time to end by itself.
 *
 * CLEAR_SIGNALLED: the members got the stop signal.  CLEAR_KILLED: they got SIGKILL. */
#include <signal.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_step.h"
#include "model/operation.h"

/* RENEW_MS: a pid file may name a new main process for so long after the end of the old one.
 * WAIT_MAX_MS: from the stop signal to SIGKILL at most.  KILL_MS: for what does not die of it.
 * ANSWER_MS: to an answer, which a managed user may hold up.  LOOK_FIRST_MS, LOOK_LAST_MS: between
 * two looks, which become rarer. */
enum {
    ANSWER_MS = 10000,
    RENEW_MS = 1000,
    WAIT_MAX_MS = 5000,
    KILL_MS = 5000,
    LOOK_FIRST_MS = 2,
    LOOK_LAST_MS = 250
};

static struct core_ident last_start(const struct proc *k)
{
    return k->last_start.pid > 0 ? k->last_start : (struct core_ident){ 0 };
}

/* The previous start failed, perhaps because an orphan of an earlier run holds its port or lock. */
static bool wants_orphans(const struct op *op)
{
    return op->clear.then == CLEAR_THEN_START && op_is_ours(op) && op->origin == ORIGIN_RESTART &&
           op->proc->failed_ms != 0;
}

/* Where no siblings were recorded everyone in the cgroup is family. */
static void fill_family(const struct proc *k, struct core_family *ret)
{
    bool runs = k->ident.pid != 0;

    *ret = (struct core_family){
        .space = k->meta.space,
        .name = k->meta.name,
        .spec = &k->spec,
        .main = runs ? k->ident : k->last,
        .start = runs ? k->start : last_start(k),
        .ended_ms = runs ? INT64_MAX : k->last_ms,
        .siblings = k->siblings ? k->siblings : "",
    };
}

void op_fill_family(const struct op *op, int number, struct core_family *ret)
{
    fill_family(op->proc, ret);
    ret->id = op->id;
    ret->question = op->questions;
    if (!op->proc->has_spec)
        ret->spec = &op->command.spec;
    ret->number = number;
    ret->has_crashed = op->clear.then == CLEAR_THEN_START && op_is_ours(op);
    ret->wants_orphans = wants_orphans(op);
}

void core_ask_siblings(struct proc *k)
{
    const struct core *c = k->core;
    struct core_family f;

    k->knows_siblings = !c->effects->siblings || !k->start.pid ||
                        (core_is_same(k->start, k->ident) && !k->siblings);
    if (k->knows_siblings)
        return;
    fill_family(k, &f);
    c->effects->siblings(c->arg, &f);
}

static void await_answer(struct op *op)
{
    op->clear.is_asking = true;
    op_set_timer(op, ANSWER_MS);
}

static void ask_family(struct op *op, int number)
{
    struct core_family f;

    op->questions++;
    op->asked = ASK_NOTHING;
    op_fill_family(op, number, &f);
    await_answer(op);
    op->core->effects->family(op->core->arg, &f);
}

/* A stop or kill command says itself what it ends. */
static bool has_own_command(const struct op *op)
{
    return op->clear.then != CLEAR_THEN_START && *op_line(op);
}

static bool is_kill(const struct op *op)
{
    return op->clear.then != CLEAR_THEN_START && op_part(op)->signal == SIGKILL;
}

static int64_t wait_ms(const struct op *op)
{
    int64_t stop_ms = op->command.spec.extra.stop_wait_s * 1000;
    int64_t most_ms = stop_ms ? stop_ms : op_timeout_ms(op);

    return most_ms < WAIT_MAX_MS ? most_ms : WAIT_MAX_MS;
}

static void look_later(struct op *op)
{
    struct op_clear *x = &op->clear;

    x->look_ms = !x->look_ms ? LOOK_FIRST_MS : 2 * x->look_ms;
    if (x->look_ms > LOOK_LAST_MS)
        x->look_ms = LOOK_LAST_MS;
    op_set_timer(op, x->look_ms);
}

static void end_members(struct op *op, enum op_clear_step step, int number, int64_t in_ms)
{
    op->clear.step = step;
    op->clear.until_ms = op->core->now_ms + in_ms;
    op->clear.look_ms = 0;
    ask_family(op, number);
}

static void send_stop_signal(struct op *op)
{
    end_members(op, CLEAR_SIGNALLED, (int)op->command.spec.extra.stop_signal, wait_ms(op));
}

static void send_kill(struct op *op)
{
    end_members(op, CLEAR_KILLED, SIGKILL, KILL_MS);
}

static bool has_living_start(const struct op *op)
{
    return core_has_living_start(op->proc);
}

/* With scope `process` the family is not looked at; but a loop around the process must not go on
 * beside a second one. */
static bool has_lone_start(const struct op *op)
{
    return core_is_alone(op->core, op->proc->has_spec ? &op->proc->spec : &op->command.spec) &&
           has_living_start(op);
}

bool op_clear(struct op *op, enum op_clear_then then)
{
    const struct core_effects *effects = op->core->effects;
    struct proc *k = op->proc;
    struct core_family f;

    if (!effects->has_family || op->is_cleared ||
        proc_policy_of(&op->command.spec).kind != PROC_RESIDENT ||
        !(k->last.pid || k->last_start.pid))
        return false;
    op->clear.then = then;
    if (then == CLEAR_THEN_SAY_DOWN && has_own_command(op) && !has_living_start(op))
        return false;
    op_fill_family(op, 0, &f);
    if (!f.wants_orphans && !effects->has_family(op->core->arg, &f) && !has_lone_start(op)) {
        k->last = k->last_start = (struct core_ident){ 0 };
        return false;
    }
    op->clear = (struct op_clear){ .then = then, .begun_ms = op->core->now_ms };
    op_enter(op, PHASE_CLEAR);
    op_queue_leave(op);
    op->clear.until_ms = op->core->now_ms + wait_ms(op);
    if (then == CLEAR_THEN_START || has_own_command(op))
        ask_family(op, 0);
    else if (is_kill(op))
        send_kill(op);
    else
        send_stop_signal(op);
    return true;
}

/* ---- the end */

/* FNV-1a. */
static int64_t digest_of(const char *names)
{
    uint64_t hash = 0xCBF29CE484222325U;

    for (const char *p = names; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001B3U;
    return *names ? (int64_t)(hash >> 1) | 1 : 0;
}

/* Once, not at each try. */
static void tell_others(struct proc *k, const char *others)
{
    int64_t digest = digest_of(others);

    if (digest && digest != k->told_others)
        core_tell_event(k, "process_left", "these may belong to %s, and are not ended: %s",
                        k->meta.name, others);
    k->told_others = digest;
}

static void note_left(struct op *op, const struct core_members *m)
{
    struct proc *k = op->proc;

    cause_set_text(&k->cause.left, m->n ? m->names : NULL);
    if (m->n)
        core_tell_event(k, "process_left", "processes of %s still run: %s", k->meta.name, m->names);
    else
        k->last = k->last_start = (struct core_ident){ 0 };
    tell_others(k, m->others);
    if (core_is_known(k))
        journal_note_process(k);
}

static void end_clear(struct op *op, const struct core_members *m)
{
    if (!op->clear.is_asking)
        note_left(op, m);
    op->questions++;
    op->is_cleared = !has_own_command(op); /* the second half of a restart ends what that left */
    switch (op->clear.then) {
    case CLEAR_THEN_START:
        if (!op_is_ours(op) && op->core->now_ms >= op->deadline_ms)
            op_on_deadline(op, NULL);
        else
            op_wait_for_slot(op, true); /* and is looked for again */
        return;
    case CLEAR_THEN_SAY_STOPPED: op_end_cleared(op); return;
    case CLEAR_THEN_SAY_DOWN: op_end_down(op); return;
    }
}

/* ---- a new main process */

/* Both are asked in turn, the pid file first: a successor that has written it is the main process,
 * though the start command lives. */
static enum ask question_of(const struct op *op, const struct core_members *m)
{
    int64_t waited_ms = op->core->now_ms - op->clear.begun_ms;
    int64_t check_ms = proc_policy_of(&op->command.spec).start_check_s * 1000;
    bool asks_file, asks_start;

    if (op->clear.then != CLEAR_THEN_START || !op_is_ours(op))
        return ASK_NOTHING;
    asks_file =
        waited_ms < RENEW_MS && m->may_be_main && *op->command.spec.identity.pid_path != '\0';
    asks_start = waited_ms < check_ms && has_living_start(op);
    if (asks_file && !(asks_start && op->clear.last == ASK_PID_FILE))
        return ASK_PID_FILE;
    return asks_start ? ASK_SELF : ASK_NOTHING;
}

/* A start command that still runs is ended in any case: it might start the process again. */
static bool kills_start(struct op *op)
{
    const struct core *c = op->core;

    if (op->clear.step == CLEAR_KILLED || !has_living_start(op))
        return false;
    op->clear.step = CLEAR_KILLED;
    op->clear.until_ms = c->now_ms + KILL_MS;
    op->clear.look_ms = 0;
    c->effects->signal(c->arg, op->proc->last_start, SIGKILL, false);
    look_later(op);
    return true;
}

static void await(struct op *op, const struct core_members *m)
{
    enum ask ask = question_of(op, m);

    if (ask != ASK_NOTHING) {
        op->clear.last = ask;
        await_answer(op);
        op_ask_who(op, ask);
    } else if (op->clear.then == CLEAR_THEN_START && op->proc->may_finish) {
        op->questions++; /* what is left of it is not in the way of a next start */
        op->is_cleared = true;
        op_wait_for_slot(op, true);
    } else if (!has_own_command(op))
        send_stop_signal(op);
    else if (op->core->now_ms < op->clear.until_ms)
        look_later(op);
    else if (!kills_start(op))
        end_clear(op, m);
}

void op_on_clear_probed(struct op *op, const struct op_input *in)
{
    const struct core_probe *probe = in->probe;

    op->clear.is_asking = false;
    op->asked = ASK_NOTHING;
    if (probe->found != FOUND_IT) {
        look_later(op);
        return;
    }
    op_note_found(op->proc, probe->ident);
    core_tell_event(op->proc, "process_main_changed", "the main process of %s is pid %lld now",
                    op->proc->meta.name, (long long)probe->ident.pid);
    op_end(op, CODE_RUNNING, "process (%s) is already running with pid %lld", op->proc->meta.name,
           (long long)probe->ident.pid);
}

/* ---- inputs */

void op_on_family(struct op *op, const struct op_input *in)
{
    const struct core_members *m = in->members;

    op->clear.is_asking = false;
    if (!m->n || (op->clear.step == CLEAR_KILLED && op->core->now_ms >= op->clear.until_ms))
        end_clear(op, m);
    else if (op->clear.step == CLEAR_AWAIT)
        await(op, m);
    else if (op->clear.step == CLEAR_KILLED && has_own_command(op) && !has_living_start(op))
        end_clear(op, m);
    else
        look_later(op);
}

/* A late answer does not count any more, and must not end what is started now. */
static void end_unanswered(struct op *op)
{
    static const struct core_members nothing_known = { .names = "", .others = "" };
    const struct core *c = op->core;

    if (c->effects->drop_family)
        c->effects->drop_family(c->arg, op->id);
    end_clear(op, &nothing_known);
}

void op_on_clear_timer(struct op *op, const struct op_input *in)
{
    bool is_over = op->core->now_ms >= op->clear.until_ms;

    (void)in;
    if (op->clear.is_asking)
        end_unanswered(op);
    else if (op->clear.step == CLEAR_SIGNALLED && is_over)
        send_kill(op);
    else
        ask_family(op, op->clear.step == CLEAR_KILLED && !has_own_command(op) ? SIGKILL : 0);
}
