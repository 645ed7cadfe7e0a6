/* SPDX-License-Identifier: MIT */
/* core_ready.c - see core_ready.h. */
#include "agent/core_ready.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/core_care.h"
#include "agent/core_errand.h"
#include "agent/core_step.h"
#include "base/mem.h"

/* Between two tries: short at first, for most are ready soon. */
enum { FIRST_MS = 100, LAST_MS = 1000 };

/* One that ends well may have been a launcher, whose daemon is not to be seen yet; of one that
 * ends otherwise nothing is left. */
enum { LOOKS_AFTER_EXIT = 2 };

struct ready {
    struct timer timer; /* the next try, or look */
    int64_t wait_ms, deadline_ms, timeout_s;
    bool is_said;           /* it is ready; who is it? */
    bool is_late;           /* the deadline has passed: what is there? */
    bool is_self;           /* the command was seen to be the process */
    bool is_resumed;        /* an agent before us began it */
    int looks;              /* left since one has ended; 0: none has */
    bool tries_port;        /* the answer is on its way */
    uint64_t file_question; /* whether the pid file names it; 0: not asked */
    struct core_ident main;
    struct errand *asks_health;
    char health[256]; /* what was said last */
};

static const struct proc_ready *wish(const struct op *op)
{
    return &op->command.spec.extra.ready;
}

bool ready_is_self(const struct op *op)
{
    return op->ready && op->ready->is_self;
}

bool ready_is_missing(const struct op *op)
{
    return op->ready && !op->ready->is_said;
}

struct core_ident ready_main(const struct op *op)
{
    return op->ready ? op->ready->main : (struct core_ident){ 0 };
}

static bool is_open_phase(const struct op *op)
{
    return op->phase == PHASE_RUN || op->phase == PHASE_SETTLE;
}

static void set_timer(struct op *op, int64_t wait_ms)
{
    timers_set(&op->core->timers, &op->ready->timer, op->core->now_ms + wait_ms);
}

/* Who is it?  Its command, or what it has left behind. */
static void look_for_good(struct op *op)
{
    if (op->phase == PHASE_SETTLE) {
        op_set_timer(op, op_timeout_ms(op));
        op_look(op, PHASE_CHECK);
    } else if (op->phase == PHASE_RUN && op->run.pid > 0 && !op->is_late) {
        op_look(op, PHASE_SELF);
    }
}

static void said(struct op *op)
{
    op->ready->is_said = true;
    op->ready->wait_ms = FIRST_MS;
    set_timer(op, FIRST_MS);
    look_for_good(op);
}

/* ---- what is waited for */

static void on_health(struct kept *k, void *arg, int status, const char *output,
                      const char *failure)
{
    struct op *op = arg;
    struct ready *r = op->ready;

    (void)k;
    r->asks_health = NULL;
    snprintf(r->health, sizeof(r->health), "%s", failure ? failure : output);
    if (!failure && status == 0)
        said(op);
}

static void ask_health(struct op *op)
{
    const struct proc_spec *spec = &op->command.spec;

    if (!op->ready->asks_health)
        op->ready->asks_health = errand_run(op->kept, spec, "health", spec->control.health_cmd,
                                            care_timeout_ms(spec), on_health, op);
}

static void try_port(struct op *op)
{
    struct core *c = op->core;

    if (op->ready->tries_port)
        return;
    op->ready->tries_port = true;
    c->hands->try_port(c->arg, op->id, wish(op)->port);
}

static void try_now(struct op *op)
{
    bool may_be_old = op_part(op)->op == PROC_OP_RESTART && op->phase == PHASE_RUN;

    if (may_be_old && !op->ready->is_self)
        return;
    switch ((enum proc_ready_kind)wish(op)->kind) {
    case READY_ALIVE:
    case READY_NOTIFY: return;
    case READY_PID_FILE:
        op_ask_who(op, ASK_PID_FILE);
        op->ready->file_question = op->questions;
        return;
    case READY_PORT: try_port(op); return;
    case READY_HEALTH: ask_health(op); return;
    }
}

static void on_time(void *arg)
{
    struct op *op = arg;
    struct ready *r = op->ready;
    int64_t left_ms = r->deadline_ms - op->core->now_ms;

    r->is_late = left_ms <= 0;
    r->wait_ms = r->wait_ms * 2 > LAST_MS ? LAST_MS : r->wait_ms * 2;
    set_timer(op, r->is_late || r->wait_ms < left_ms ? r->wait_ms : left_ms);
    if (!is_open_phase(op))
        return;
    if (r->is_late || r->is_said || r->looks)
        look_for_good(op);
    else
        try_now(op);
}

void ready_on_port(struct op *op, bool is_open)
{
    if (!op->ready || !op->ready->tries_port)
        return;
    op->ready->tries_port = false;
    if (is_open && is_open_phase(op))
        said(op);
}

void ready_on_notify(struct op *op, struct core_ident main)
{
    if (!op->ready || wish(op)->kind != READY_NOTIFY)
        return;
    op->ready->main = main;
    said(op);
}

void ready_on_exit(struct op *op)
{
    const struct proc_cause *cause = &op->kept->cause;
    bool is_bad = cause->exit_signal || cause->exit_code > 0;
    bool is_old = core_is_same(op->kept->exited, op->old);

    if (!op->ready || !is_open_phase(op) || is_old)
        return; /* a restart is to end the old one */
    op->ready->looks = is_bad ? 1 : LOOKS_AFTER_EXIT;
    look_for_good(op);
}

/* ---- what comes of it */

static const char *waited_for(struct op *op)
{
    switch ((enum proc_ready_kind)wish(op)->kind) {
    case READY_ALIVE: break;
    case READY_NOTIFY: return "it has not said READY=1 to $NOTIFY_SOCKET";
    case READY_PID_FILE:
        return arena_printf(&op->arena, "pid file %s does not name it",
                            op->command.spec.identity.pid_path);
    case READY_PORT:
        return arena_printf(&op->arena, "port %lld takes no connections",
                            (long long)wish(op)->port);
    case READY_HEALTH:
        return arena_printf(&op->arena, "its health command has not succeeded: %s",
                            *op->ready->health ? op->ready->health : "it has said nothing");
    }
    return "it is not alive";
}

static void fail(struct op *op, const struct core_probe *probe)
{
    const char *why = probe->why ? probe->why : "",
               *what = op->ready->is_said ? "" : waited_for(op);
    long long timeout_s = (long long)op->ready->timeout_s;

    if (probe->found == FOUND_IT) {
        op_on_peek(op, probe); /* it runs, whatever becomes of this */
        op_fail_ready(op, "not ready",
                      arena_printf(&op->arena,
                                   "%s within %lld s; it runs as pid %lld, and is left so", what,
                                   timeout_s, (long long)probe->ident.pid));
        return;
    }
    if (op->ready->looks)
        op_fail_ready(
            op, "not alive",
            arena_printf(&op->arena, "it ended before it was ready%s%s", *why ? "; " : "", why));
    else
        op_fail_ready(op, "not alive",
                      arena_printf(&op->arena, "%s%snot ready within %lld s%s%s", what,
                                   *what ? "; " : "", timeout_s, *why ? ": " : "", why));
}

/* It runs, and its time goes on. */
static void go_on(struct op *op, enum phase phase, const struct core_probe *probe)
{
    op->phase = phase;
    if (phase == PHASE_SETTLE)
        op_set_timer(op, PEEK_MS);
    if (op->ready->looks > 1 && phase == PHASE_SETTLE)
        op->ready->looks--;
    if (probe->found != FOUND_IT) {
        op->ready->main = (struct core_ident){ 0 }; /* it may be another than it says */
        return;
    }
    op->ready->looks = 0;
    op_on_peek(op, probe);
}

static bool is_enough(const struct op *op)
{
    const struct ready *r = op->ready;

    return r->is_said || (r->is_late && r->is_resumed && wish(op)->kind == READY_NOTIFY);
}

static void on_check(struct op *op, const struct core_probe *probe)
{
    struct ready *r = op->ready;
    bool runs = probe->found == FOUND_IT;

    op->kept->is_unseen = false;
    if (runs && is_enough(op))
        op_succeed(op, probe->ident);
    else if (r->is_late || (!runs && r->looks == 1))
        fail(op, probe);
    else
        go_on(op, PHASE_SETTLE, probe);
}

static void on_self(struct op *op, const struct core_probe *probe)
{
    bool runs = probe->found == FOUND_IT;

    op->ready->is_self |= runs;
    if (runs && is_enough(op))
        op_succeed(op, probe->ident);
    else if (runs && op->ready->is_late)
        fail(op, probe);
    else
        go_on(op, PHASE_RUN, probe);
}

bool ready_asks_file(const struct op *op)
{
    return op->ready && op->ready->file_question == op->questions;
}

bool ready_on_probe(struct op *op, const struct core_probe *probe)
{
    struct ready *r = op->ready;

    if (!r)
        return false;
    if (op->phase == PHASE_CHECK) {
        on_check(op, probe);
    } else if (op->phase == PHASE_SELF) {
        on_self(op, probe);
    } else if (is_open_phase(op) && ready_asks_file(op)) {
        r->file_question = 0;
        if (probe->found == FOUND_IT)
            op_succeed(op, probe->ident);
    } else {
        return false;
    }
    return true;
}

/* ---- its life */

void ready_begin(struct op *op)
{
    const struct proc_ready *w = wish(op);
    struct ready *r;

    if (op->ready || !op_may_stay(op) || w->kind == READY_ALIVE)
        return;
    r = op->ready = xalloc(sizeof(*r));
    r->timeout_s = w->timeout_s ? w->timeout_s : op_timeout_ms(op) / 1000;
    r->deadline_ms = op->core->now_ms + r->timeout_s * 1000;
    r->is_resumed = op->is_resumed;
    r->wait_ms = FIRST_MS;
    timer_init(&r->timer, on_time, op);
    set_timer(op, FIRST_MS);
}

/* It was the process, or one that made it. */
void ready_settle(struct op *op)
{
    ready_begin(op);
    if (!op->ready)
        return;
    if (op->ready->is_self)
        op->ready->looks = LOOKS_AFTER_EXIT;
    op->ready->is_self = false;
    op->ready->wait_ms = FIRST_MS;
    set_timer(op, 0);
}

void ready_end(struct op *op)
{
    struct ready *r = op->ready;

    if (!r)
        return;
    timers_stop(&op->core->timers, &r->timer);
    errand_drop(r->asks_health);
    op->ready = NULL;
    free(r);
}
