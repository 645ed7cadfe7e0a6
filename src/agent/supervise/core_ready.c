/* SPDX-License-Identifier: MIT */
/* core_ready.c - see core_ready.h. */
#include "agent/supervise/core_ready.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/supervise/core_checks.h"
#include "agent/supervise/core_health.h"
#include "agent/supervise/core_side_command.h"
#include "agent/supervise/core_step.h"
#include "base/mem/mem.h"
#include "model/operation.h"

/* Interval between two checks: short at first, because most processes are ready soon. */
enum { FIRST_MS = 100, LAST_MS = 1000 };

enum { PORT_MS = 1000 }; /* time to accept a connection */

/* A process that exits successfully may have been a launcher, and its daemon cannot be found
 * yet; after any other exit there is nothing to wait for. */
enum { LOOKS_AFTER_EXIT = 2 };

struct ready {
    struct timer timer; /* next check or probe */
    int64_t wait_ms, deadline_ms, timeout_s;
    bool is_reported; /* it is ready; its identity is being determined */
    bool is_late;     /* the timeout has passed; the final probe is being made */
    bool is_self;     /* the command was found to be the process */
    bool is_resumed;  /* a previous agent started it */
    int looks;        /* probes left since a process exited; 0: none exited */
    bool tries_port;  /* a port check is in progress */
    struct core_ident main;
    char port[256];        /* why the last port check failed */
    struct checks *checks; /* NULL: none, or not tried yet */
    bool wants_look;       /* the process has to be looked for before the next port check */
    bool is_healthy;       /* the last health_cmd succeeded */
    struct side_command *asks_health;
    char health[256]; /* last output of health_cmd */
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
    return op->ready && !op->ready->is_reported;
}

struct core_ident ready_main(const struct op *op)
{
    return op->ready ? op->ready->main : (struct core_ident){ 0 };
}

/* No probe for the outcome is under way. */
static bool is_open_now(const struct op *op)
{
    return (op->phase == PHASE_RUN && op->asked != ASK_SELF) || op->phase == PHASE_SETTLE;
}

static void ready_set_timer(struct op *op, int64_t wait_ms)
{
    timers_set(&op->core->timers, &op->ready->timer, op->core->now_ms + wait_ms);
}

/* Final probe: the process is the command, or what the command started. */
static void look_for_good(struct op *op)
{
    op->ready->wants_look = false;
    if (op->phase == PHASE_SETTLE)
        op_check(op);
    else if (is_open_now(op) && op->run.pid > 0)
        op_ask_who(op, ASK_SELF);
}

void ready_on_reported(struct op *op, const struct op_input *in)
{
    (void)in;
    op->ready->is_reported = true;
    op->ready->wait_ms = FIRST_MS;
    ready_set_timer(op, FIRST_MS);
    look_for_good(op);
}

static void report_ready(struct op *op)
{
    op_step(op, OP_READY, NULL);
}

/* ---- checks */

static bool has_health_cmd(const struct op *op)
{
    return *op->command.spec.control.health_cmd != '\0';
}

static bool is_healthy(const struct op *op)
{
    const struct ready *r = op->ready;

    return (r->is_healthy || !has_health_cmd(op)) && (!r->checks || checks_pass(r->checks));
}

static void on_health(struct proc *k, void *arg, int status, const char *output,
                      const char *failure)
{
    struct op *op = arg;
    struct ready *r = op->ready;

    (void)k;
    r->asks_health = NULL;
    msg_copy(r->health, sizeof(r->health), failure ? failure : output);
    r->is_healthy = !failure && status == 0;
    if (is_healthy(op))
        report_ready(op);
}

static void ready_on_checked(void *arg, const struct proc_check_view *check,
                             enum proc_check_state was)
{
    struct op *op = arg;

    (void)check;
    (void)was;
    if (is_open_now(op) && !op->ready->is_reported && is_healthy(op))
        report_ready(op);
}

/* Of the start: its main process may not have been found yet. */
static void try_checks(struct op *op)
{
    struct ready *r = op->ready;

    if (!r->checks)
        r->checks = checks_new(op->proc, &op->command.spec, ready_on_checked, op);
    checks_try(r->checks, op->seen, op->proc->start);
}

static void ask_health(struct op *op)
{
    const struct proc_spec *spec = &op->command.spec;

    if (spec->extra.checks.n)
        try_checks(op);
    if (!op->ready->asks_health && has_health_cmd(op))
        op->ready->asks_health =
            side_command_run(op->proc, spec, "health", spec->control.health_cmd,
                             health_timeout_ms(spec), on_health, op);
}

static void try_port(struct op *op)
{
    struct core *c = op->core;
    char port[16];
    const struct proc_check check = { .name = "",
                                      .http = "",
                                      .tcp = port,
                                      .command = "",
                                      .body = "",
                                      .any_owner = wish(op)->any_owner };
    struct core_check ask = {
        .id = op->id, .check = &check, .timeout_ms = PORT_MS, .is_urgent = true, .needs_owner = true
    };

    if (op->ready->tries_port)
        return;
    op->ready->tries_port = true;
    snprintf(port, sizeof(port), "%lld", (long long)wish(op)->port);
    checks_fill_family(op->proc, &op->command.spec, op->seen, op->proc->start, &ask.family);
    c->effects->check(c->arg, &ask);
}

static void try_now(struct op *op)
{
    bool may_be_old = op_part(op)->replaces && op->phase == PHASE_RUN;

    if (may_be_old && !op->ready->is_self)
        return;
    switch ((enum proc_ready_kind)wish(op)->kind) {
    case READY_ALIVE:
    case READY_NOTIFY: return;
    case READY_PID_FILE: op_ask_who(op, ASK_PID_FILE); return;
    case READY_PORT: try_port(op); return;
    case READY_HEALTH: ask_health(op); return;
    }
}

void ready_on_time(struct op *op, const struct op_input *in)
{
    struct ready *r = op->ready;
    int64_t left_ms = r->deadline_ms - op->core->now_ms;

    (void)in;
    r->is_late = left_ms <= 0;
    r->wait_ms = r->wait_ms * 2 > LAST_MS ? LAST_MS : r->wait_ms * 2;
    ready_set_timer(op, r->is_late || r->wait_ms < left_ms ? r->wait_ms : left_ms);
    if (!is_open_now(op))
        return;
    if (r->is_late || r->is_reported || r->looks || r->wants_look)
        look_for_good(op);
    else
        try_now(op);
}

static void ready_on_timer(void *op)
{
    op_step(op, OP_READY_TIME, NULL);
}

/* A daemon that has left its start command is known to be its process only once it has been looked
 * for: until then its own listener may seem to belong to another process. */
void ready_on_port(struct op *op, const struct core_checked *got)
{
    struct ready *r = op->ready;

    if (!r || !r->tries_port)
        return;
    r->tries_port = false;
    if (got->outcome != CHECK_OK && *got->text)
        msg_copy(r->port, sizeof(r->port), got->text);
    if (!is_open_now(op))
        return;
    r->wants_look = got->outcome == CHECK_FOREIGN && !op->seen.pid;
    if (r->wants_look)
        ready_set_timer(op, FIRST_MS);
    if (got->outcome == CHECK_OK)
        report_ready(op);
}

void ready_on_notify(struct op *op, struct core_ident main)
{
    if (!op->ready || wish(op)->kind != READY_NOTIFY)
        return;
    op->ready->main = main;
    report_ready(op);
}

void ready_on_exit(struct op *op)
{
    const struct proc_cause *cause = &op->proc->cause;
    bool is_bad = cause->exit_signal || cause->exit_code > 0;
    bool is_old = core_is_same(op->proc->exited, op->old);

    if (!op->ready || !is_open_now(op) || is_old)
        return; /* a restart ends the old process */
    op->ready->looks = is_bad ? 1 : LOOKS_AFTER_EXIT;
    look_for_good(op);
}

/* ---- results */

static const char *waited_for_check(struct op *op)
{
    const struct checks *checks = op->ready->checks;
    const struct proc_check_view *bad = checks ? checks_first_bad(checks) : NULL;

    if (!bad)
        return MSG("its checks have not passed");
    if (!*bad->text)
        return arena_msg(&op->arena, "check %s has not passed", bad->name);
    return arena_msg(&op->arena, "check %s has not passed: %s", bad->name, bad->text);
}

static const char *waited_for(struct op *op)
{
    switch ((enum proc_ready_kind)wish(op)->kind) {
    case READY_ALIVE: break;
    case READY_NOTIFY: return MSG("it has not sent READY=1 to $NOTIFY_SOCKET");
    case READY_PID_FILE:
        return arena_msg(&op->arena, "pid file %s does not name it",
                         op->command.spec.identity.pid_path);
    case READY_PORT:
        if (*op->ready->port)
            return arena_strdup(&op->arena, op->ready->port);
        return arena_msg(&op->arena, "port %lld could not be tried", (long long)wish(op)->port);
    case READY_HEALTH:
        if (op->ready->is_healthy || !has_health_cmd(op))
            return waited_for_check(op);
        return arena_msg(&op->arena, "its health command has not succeeded: %s",
                         *op->ready->health ? op->ready->health : MSG("it has said nothing"));
    }
    return MSG("it is not alive");
}

/* `what` is "" if the process has said that it is ready. */
static const char *not_ready(struct op *op, const char *what, const char *why)
{
    long long timeout_s = (long long)op->ready->timeout_s;

    if (*what && *why)
        return arena_msg(&op->arena, "%s; not ready within %lld s: %s", what, timeout_s, why);
    if (*what)
        return arena_msg(&op->arena, "%s; not ready within %lld s", what, timeout_s);
    if (*why)
        return arena_msg(&op->arena, "not ready within %lld s: %s", timeout_s, why);
    return arena_msg(&op->arena, "not ready within %lld s", timeout_s);
}

static void ready_fail(struct op *op, const struct core_probe *probe)
{
    const char *why = probe->why ? probe->why : "",
               *what = op->ready->is_reported ? "" : waited_for(op);

    if (probe->found == FOUND_IT) {
        op_on_peek(op, probe); /* it runs, even if this check fails */
        op_fail_ready(op, MSG("not ready"),
                      arena_msg(&op->arena, "%s within %lld s; it runs as pid %lld, and is left so",
                                what, (long long)op->ready->timeout_s,
                                (long long)probe->ident.pid));
        return;
    }
    if (!op->ready->looks)
        op_fail_ready(op, MSG("not alive"), not_ready(op, what, why));
    else if (*why)
        op_fail_ready(op, MSG("not alive"),
                      arena_msg(&op->arena, "it ended before it was ready; %s", why));
    else
        op_fail_ready(op, MSG("not alive"), MSG("it ended before it was ready"));
}

/* The process runs, and the timeout continues. */
static void ready_go_on(struct op *op, const struct core_probe *probe)
{
    if (op->phase == PHASE_CHECK) {
        op_enter(op, PHASE_SETTLE);
        op_set_timer(op, PEEK_MS);
        op->ready->looks -= op->ready->looks > 1;
    }
    if (probe->found != FOUND_IT) {
        op->ready->main = (struct core_ident){ 0 }; /* the reported main process may be wrong */
        return;
    }
    op->ready->looks = 0;
    op_on_peek(op, probe);
}

static bool is_enough(const struct op *op)
{
    const struct ready *r = op->ready;

    return r->is_reported || (r->is_late && r->is_resumed && wish(op)->kind == READY_NOTIFY);
}

void ready_on_check(struct op *op, const struct core_probe *probe)
{
    struct ready *r = op->ready;
    bool runs = probe->found == FOUND_IT;

    if (runs && is_enough(op))
        op_succeed(op, probe->ident);
    else if (r->is_late || (!runs && r->looks == 1))
        ready_fail(op, probe);
    else
        ready_go_on(op, probe);
}

void ready_on_self(struct op *op, const struct core_probe *probe)
{
    bool runs = probe->found == FOUND_IT;

    op->ready->is_self |= runs;
    if (runs && is_enough(op))
        op_succeed(op, probe->ident);
    else if (runs && op->ready->is_late)
        ready_fail(op, probe);
    else
        ready_go_on(op, probe);
}

void ready_on_file(struct op *op, const struct core_probe *probe)
{
    if (probe->found == FOUND_IT)
        op_succeed(op, probe->ident);
}

/* ---- life cycle */

void ready_begin(struct op *op)
{
    const struct proc_ready *w = wish(op);
    struct ready *r;

    if (op->ready || !op_may_stay(op) || w->kind == READY_ALIVE)
        return;
    r = op->ready = xalloc(sizeof(*r));
    r->timeout_s = w->timeout_s ? w->timeout_s : op_timeout_ms(op) / 1000;
    r->deadline_ms = op->core->now_ms + r->timeout_s * 1000;
    r->is_resumed = op->begun == BEGUN_RESUMED;
    r->wait_ms = FIRST_MS;
    timer_init(&r->timer, ready_on_timer, op);
    ready_set_timer(op, FIRST_MS);
}

/* The command was the process, or started it. */
void ready_settle(struct op *op)
{
    ready_begin(op);
    if (!op->ready)
        return;
    if (op->ready->is_self)
        op->ready->looks = LOOKS_AFTER_EXIT;
    op->ready->is_self = false;
    op->ready->wait_ms = FIRST_MS;
    ready_set_timer(op, 0);
}

void ready_end(struct op *op)
{
    struct ready *r = op->ready;

    if (!r)
        return;
    timers_stop(&op->core->timers, &r->timer);
    side_command_drop(r->asks_health);
    if (r->tries_port)
        checks_drop_try(op->core, op->id);
    checks_free(r->checks);
    op->ready = NULL;
    free(r);
}
