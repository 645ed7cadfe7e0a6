/* SPDX-License-Identifier: MIT */
/* core.c - entry points of the core: find the process or operation of an input. */
#include "agent/supervise/core.h"

#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cancel.h"
#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_checks.h"
#include "agent/supervise/core_claim.h"
#include "agent/supervise/core_cycle.h"
#include "agent/supervise/core_group.h"
#include "agent/supervise/core_health.h"
#include "agent/supervise/core_in.h"
#include "agent/supervise/core_local.h"
#include "agent/supervise/core_op.h"
#include "agent/supervise/core_order.h"
#include "agent/supervise/core_pong.h"
#include "agent/supervise/core_rate.h"
#include "agent/supervise/core_ready.h"
#include "agent/supervise/core_side_command.h"
#include "agent/supervise/core_step.h"
#include "base/mem/mem.h"

/* OPS_MAX: operations that wait for one process; more are refused.  COMMANDS_MAX: commands of
 * all processes, including results that the server has not stored; more are not accepted, and
 * the server sends them again. */
enum { OPS_MAX = 16, COMMANDS_MAX = 8192 };

struct core *core_new(const struct core_effects *effects, void *arg, int64_t now_ms,
                      int64_t wall_ms)
{
    struct core *c = xalloc(sizeof(*c));

    c->effects = effects;
    c->arg = arg;
    c->now_ms = now_ms;
    c->wall_ms = wall_ms;
    c->clock_ms = wall_ms - now_ms;
    pool_init(&c->ops, OP_BYTES);
    TAILQ_INIT(&c->waiting);
    op_queue_init(&c->queue);
    TAILQ_INIT(&c->to_tell);
    event_begin(c);
    side_commands_begin(c);
    limit_begin(c);
    order_begin(c);
    return c;
}

static void free_proc(struct proc *k)
{
    while (!TAILQ_EMPTY(&k->ops))
        op_free(TAILQ_FIRST(&k->ops));
    timers_stop(&k->core->timers, &k->timer);
    core_untell(k);
    health_free(k);
    side_commands_forget(k);
    limit_free(k);
    cycle_free(k);
    order_free(k);
    cause_free(k);
    rate_free(k);
    core_set_siblings(k, "");
    arena_free(&k->arena);
    free(k);
}

void core_free(struct core *c)
{
    struct map_entry *e;

    if (!c)
        return;
    side_commands_close(c);
    order_end(c);
    for (size_t at = 0; (e = map_next(&c->proc, &at));)
        free_proc(e->value);
    for (size_t at = 0; (e = map_next(&c->done, &at));)
        done_free(e->value);
    event_end(c);
    side_commands_end(c);
    limit_end(c);
    map_free(&c->proc);
    map_free(&c->commands);
    map_free(&c->done);
    map_free(&c->by_id);
    map_free(&c->checks);
    map_free(&c->by_pid);
    map_free(&c->by_exited);
    timers_free(&c->timers);
    pool_done(&c->ops);
    free(c);
}

/* The last process that a previous agent started may be missing in the journal and may still be
 * starting.  For this long after our own start, and for the first probe of a process, a pid file
 * that names no live process is no proof that the process is down. */
enum { DOUBT_MS = 60 * 1000 };

static struct proc *new_proc(const char *key, size_t space_n)
{
    size_t n = strlen(key) + 1;
    struct proc *k = xalloc(sizeof(*k) + n + space_n + 1);

    memcpy(k->key, key, n);
    memcpy(k->key + n, key, space_n);
    k->meta.name = k->key + space_n + 1;
    k->meta.space = k->key + n;
    return k;
}

struct proc *core_proc(struct core *c, const char *space, const char *name)
{
    char *key = xprintf("%s:%s", space, name);
    struct proc *k = map_find_str(&c->proc, key);

    if (k) {
        free(key);
        return k;
    }
    k = new_proc(key, strlen(space));
    free(key);
    k->core = c;
    k->register_s = c->wall_ms / 1000;
    k->is_unseen = !c->is_started;
    k->doubt_ms = c->is_started ? 0 : c->now_ms + DOUBT_MS;
    shape_defaults(&proc_spec_shape, &k->spec);
    cause_init(k);
    restart_init(k);
    TAILQ_INIT(&k->ops);
    map_put_str(&c->proc, k->key, k);
    return k;
}

void core_set_siblings(struct proc *k, const char *siblings)
{
    free(k->siblings);
    k->siblings = *siblings ? xstrdup(siblings) : NULL;
}

/* Names that only queries mention must not fill the memory. */
void core_forget(struct proc *k)
{
    core_set_ident(k, (struct core_ident){ 0 });
    map_del_str(&k->core->proc, k->key);
    free_proc(k);
}

/* ---- inputs */

/* a - b, clamped so that later additions cannot overflow: both come from outside. */
static int64_t less(int64_t a, int64_t b)
{
    const int64_t end = INT64_MAX / 4;
    int64_t c;

    if (__builtin_sub_overflow(a, b, &c))
        c = a < 0 ? -end : end;
    return c > end ? end : c < -end ? -end : c;
}

static void on_command(struct core *c, const struct message_command *m)
{
    char *key = xprintf("%s#%lld", m->task, (long long)m->item);
    const struct message_ref ref = { m->task, m->item };
    struct done *d = map_find_str(&c->done, key);
    struct op *known = map_find_str(&c->commands, key);

    free(key);
    if (d || (known && known->is_durable))
        c->effects->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
    if (d)
        done_send_again(d);
    if (!d && !known)
        (void)core_take(c, m, less(m->deadline_ms, c->offset_ms)); /* else it is resent */
}

static void on_cancel(struct core *c, const struct message_cancel *m)
{
    if (!core_is_local(m->task))
        cancel_on_message(c, m, less(m->deadline_ms, c->offset_ms));
}

bool core_take(struct core *c, const struct message_command *m, int64_t deadline_ms)
{
    struct proc *k;
    struct op *op;
    size_t waiting = 0;

    if (c->commands.n + (core_is_local(m->task) ? 0 : c->n_unstored) >= COMMANDS_MAX)
        return false;
    k = core_proc(c, m->meta.space, m->meta.name);
    TAILQ_FOREACH(op, &k->ops, link)
        waiting++;
    op = op_new(c, m);
    op->deadline_ms = deadline_ms;
    op->fate = waiting >= OPS_MAX ? FATE_REFUSED : FATE_ACCEPTED;
    op->mark = journal_note_command(op);
    TAILQ_INSERT_TAIL(&c->waiting, op, waiting);
    return true;
}

static void on_welcome(struct core *c, const struct message_welcome *m)
{
    c->is_linked = true;
    c->offset_ms = less(m->server_ms, c->now_ms);
    core_tell_all(c, m->wants_processes);
    event_welcome(c);
    done_send_all(c);
}

static void on_ping(struct core *c, const struct message_ping *m)
{
    c->offset_ms = less(m->server_ms, c->now_ms);
    pong_send(c, m->server_ms);
}

void core_on_message(struct core *c, unsigned type, const void *message, int64_t now_ms)
{
    const struct message_ref *ref = message;
    const struct message_event_ref *event = message;

    c->now_ms = now_ms;
    if (type == MESSAGE_COMMAND && core_is_local(((const struct message_command *)message)->task))
        local_refuse(c);
    else if (type == MESSAGE_COMMAND)
        on_command(c, message);
    else if (type == MESSAGE_CANCEL)
        on_cancel(c, message);
    else if (type == MESSAGE_STORED)
        journal_note_stored(c, ref->task, ref->item);
    else if (type == MESSAGE_EVENT_STORED)
        event_stored(c, event->id);
    else if (type == MESSAGE_WELCOME)
        on_welcome(c, message);
    else if (type == MESSAGE_PING)
        on_ping(c, message);
    else if (type == MESSAGE_GROUP)
        group_on_message(c, message);
}

void core_on_link(struct core *c, bool is_up, int64_t now_ms)
{
    c->now_ms = now_ms;
    if (!is_up)
        c->is_linked = false;
}

void core_on_durable(struct core *c, uint64_t mark, int64_t now_ms)
{
    struct op *op;

    c->now_ms = now_ms;
    while ((op = TAILQ_FIRST(&c->waiting)) && op->mark <= mark) {
        TAILQ_REMOVE(&c->waiting, op, waiting);
        op_step(op, OP_DURABLE, NULL);
    }
    group_on_durable(c, mark);
}

static struct op *op_by_id(struct core *c, uint64_t id)
{
    return map_find(&c->by_id, (const char *)&id, sizeof(id));
}

void core_on_run(struct core *c, uint64_t id, const struct core_began *began,
                 const struct err *failure, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op)
        op_step(op, OP_BEGAN, &(struct op_input){ .began = began, .failure = failure });
    else
        (void)side_command_on_run(c, id, failure); /* unknown id: no longer awaited */
}

void core_on_run_end(struct core *c, uint64_t id, int status, const char *output, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op)
        op_step(op, OP_ENDED, &(struct op_input){ .status = status, .output = output });
    else
        (void)side_command_on_run_end(c, id, status, output); /* unknown id: no longer awaited */
}

void core_on_probe(struct core *c, uint64_t id, const struct core_probe *probe, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op && probe->found != FOUND_IT)
        op->proc->missed_ms = now_ms;
    if (op && (!probe->question || probe->question == op->questions))
        op_step(op, OP_PROBED, &(struct op_input){ .probe = probe });
}

/* What this agent has watched is known: no search has to say what else may run. */
static void end_doubt(struct proc *k)
{
    if (k->has_ended_unseen)
        return;
    k->doubt_ms = 0;
    k->is_unseen = false;
}

void core_on_exit(struct core *c, struct core_ident ident, int status, int64_t now_ms)
{
    struct proc *k;
    struct op *op;

    c->now_ms = now_ms;
    while ((k = core_proc_of_ident(c, ident))) {
        op = TAILQ_FIRST(&k->ops);
        if (op)
            op_before_exit(op, ident);
        cause_on_exit(k, ident, status);
        restart_note_exit(k);
        end_doubt(k);
        core_set_ident(k, (struct core_ident){ 0 });
        restart_on_exit(k);
        if (!TAILQ_EMPTY(&k->ops))
            op_step(TAILQ_FIRST(&k->ops), OP_EXITED, NULL);
    }
}

void core_on_output(struct core *c, struct core_ident ident, const char *output, enum proc_oom oom,
                    int64_t now_ms)
{
    struct proc *k = cause_find_exited(c, ident);

    c->now_ms = now_ms;
    if (!k)
        return;
    if (*output || oom != PROC_OOM_NO)
        cause_on_output(k, output, oom);
    restart_tell_exit(k);
    if (!*output && oom == PROC_OOM_NO)
        return;
    cycle_on_output(k, ident, output);
    if (core_is_known(k))
        journal_note_process(k);
    core_tell_process(k);
}

void core_on_sample(struct core *c, struct core_ident ident, const struct core_sample *s,
                    int64_t now_ms)
{
    struct proc *k, *next;

    c->now_ms = now_ms;
    for (k = core_first_of_pid(c, ident.pid); k; k = next) {
        next = k->same_pid;
        if (k->ident.start_ticks == ident.start_ticks)
            limit_on_sample(k, s);
    }
}

static struct proc *core_find_proc(const struct core *c, const char *space, const char *name)
{
    char *key = xprintf("%s:%s", space, name);
    struct proc *k = map_find_str(&c->proc, key);

    free(key);
    return k;
}

void core_on_family(struct core *c, uint64_t id, const struct core_members *m, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op && m->question == op->questions)
        op_step(op, OP_FAMILY, &(struct op_input){ .members = m });
}

void core_on_siblings(struct core *c, const char *space, const char *name, struct core_ident main,
                      const char *siblings, int64_t now_ms)
{
    struct proc *k = core_find_proc(c, space, name);

    c->now_ms = now_ms;
    if (!k || !core_is_same(k->ident, main))
        return;
    core_set_siblings(k, siblings);
    k->knows_siblings = true;
    if (core_is_known(k))
        journal_note_process(k);
}

void core_on_file(struct core *c, const char *space, const char *name, const char *path,
                  const char *md5, const char *why, int64_t now_ms)
{
    struct proc *k = core_find_proc(c, space, name);

    c->now_ms = now_ms;
    if (k)
        health_on_file(k, path, md5, why);
}

void core_on_check(struct core *c, uint64_t id, const struct core_checked *got, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op)
        ready_on_port(op, got);
    else
        checks_on_result(c, id, got);
}

void core_on_ready(struct core *c, const char *space, const char *name, struct core_ident main,
                   int64_t now_ms)
{
    struct proc *k = core_find_proc(c, space, name);

    c->now_ms = now_ms;
    if (k && !TAILQ_EMPTY(&k->ops))
        ready_on_notify(TAILQ_FIRST(&k->ops), main);
}

void core_each_unready(const struct core *c, core_unready_fn *fn, void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;
        const struct core_unready u = { op->proc->meta.space, op->proc->meta.name, op->proc->start,
                                        op->proc->ident, &op->command.spec.identity };

        if (ready_is_missing(op) && op->command.spec.extra.ready.kind == READY_NOTIFY &&
            !fn(arg, &u))
            return;
    }
}

void core_on_time(struct core *c, int64_t now_ms, int64_t wall_ms)
{
    uint64_t seq = c->timers.next_seq;
    struct timer *t;

    c->now_ms = now_ms;
    c->wall_ms = wall_ms;
    cycle_on_clock(c);
    while ((t = timers_take(&c->timers, now_ms, seq)))
        t->fn(t->arg);
}

bool core_has_main(const struct core *c, struct core_ident ident)
{
    return core_proc_of_ident(c, ident) != NULL;
}

bool core_is_alone(const struct core *c, const struct proc_spec *spec)
{
    return c->effects->is_alone && c->effects->is_alone(c->arg, spec);
}

void core_unexpected(struct core *c, const char *state, const char *event)
{
    c->unexpected++;
    if (c->effects->unexpected)
        c->effects->unexpected(c->arg, state, event);
}

void core_on_zone(struct core *c)
{
    cycle_on_zone(c);
}

int64_t core_next_ms(const struct core *c)
{
    return timers_next_ms(&c->timers);
}

/* After a reboot no process of the previous boot runs; how it ended is unknown. */
static void start_ident(struct proc *k, bool same_boot)
{
    struct core_ident ident = k->ident, start = k->start;
    int64_t since_s = k->cause.since_s, begun_ms = k->begun_ms;

    k->ident = (struct core_ident){ 0 };
    if (same_boot) {
        if (ident.pid)
            core_restore_ident(k, ident, begun_ms ? begun_ms : core_named_ms(k, ident));
        k->cause.since_s = since_s;
        k->start = start;
        return;
    }
    cycle_on_boot(k);
    cause_on_start(k);
    k->start = k->run = (struct core_ident){ 0 };
    k->last = k->last_start = k->exited = (struct core_ident){ 0 };
    restart_on_boot(k);
    if (!ident.pid)
        return;
    cause_on_exit(k, ident, CORE_STATUS_UNKNOWN);
    k->cause.since_s = k->core->wall_ms / 1000;
}

/* The previous agent ended before it had the answer.  Once the start command has ended, orphans of
 * the main process look like its siblings. */
static void resume_siblings(struct proc *k)
{
    const struct core *c = k->core;

    if (!k->ident.pid || k->knows_siblings || k->run.pid || !TAILQ_EMPTY(&k->ops))
        return;
    if (k->start.pid > 0 && c->effects->is_alive && c->effects->is_alive(c->arg, k->start))
        core_ask_siblings(k);
    else
        k->knows_siblings = true;
}

/* After a power loss the journal may lack the record that a command was started.  So no command
 * without a result is started now: it might be for the second time. */
static void start_proc(struct proc *k, bool same_boot)
{
    struct op *op;

    TAILQ_FOREACH(op, &k->ops, link) {
        if (!same_boot) {
            op->begun = BEGUN_BEFORE;
            op->half = HALF_START;
            op->run = (struct core_ident){ 0 };
            op->deadline_ms = k->core->now_ms; /* the old one was on the clock of another boot */
            journal_note_run(op);
        }
        op->mark = journal_note_command(op);
        TAILQ_INSERT_TAIL(&k->core->waiting, op, waiting);
    }
    if (k->ident.pid && !k->run.pid && TAILQ_EMPTY(&k->ops))
        k->is_unseen = false; /* no unrecorded process to search for */
    rate_resume(k);
    resume_siblings(k);
    if (k->run.pid)
        restart_resume(k); /* its record stays until it has ended */
    op_begin_next(k);
}

void core_start(struct core *c, bool same_boot, int64_t now_ms, int64_t wall_ms)
{
    struct map_entry *e;

    c->now_ms = now_ms;
    c->wall_ms = wall_ms;
    cycle_on_clock(c);
    c->is_started = true;
    c->started_ms = now_ms;
    event_start(c);
    if (!same_boot)
        done_on_new_boot(c);
    for (size_t at = 0; (e = map_next(&c->proc, &at));)
        start_ident(e->value, same_boot);
    if (!same_boot)
        order_on_boot(c);
    for (size_t at = 0; (e = map_next(&c->proc, &at));)
        start_proc(e->value, same_boot);
}

void core_each_unclaimed(const struct core *c, void (*fn)(void *arg, struct core_ident ident),
                         void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;

        if (op->begun == BEGUN_BEFORE && op->run.pid > 0)
            fn(arg, op->run);
    }
}

void core_set_at_once(struct core *c, int64_t n)
{
    c->queue.at_once = n > 0 ? (size_t)n : 1;
    op_queue_grant(c);
}

uint64_t core_at_rest(const struct core *c)
{
    return c->by_id.n == 0 ? c->next_id : 0;
}

size_t core_in_work(const struct core *c)
{
    struct map_entry *e;
    size_t n = 0;

    for (size_t at = 0; (e = map_next(&c->by_id, &at));)
        n += op_is_acting(e->value);
    return n;
}

static bool has_name(const struct proc *k, const char *space, const char *name)
{
    return !strcmp(k->meta.space, space) && !strcmp(k->meta.name, name);
}

/* Until a probe has found the process, the command is all that is known of it. */
static bool has_start(const struct op *op)
{
    return op->run.pid > 0 && op_starts(op);
}

bool core_is_others(const struct core *c, struct core_ident ident, const char *space,
                    const char *name)
{
    const struct proc *asks = core_find_proc(c, space, name);
    bool is_known = false;
    struct map_entry *e;

    for (const struct proc *k = core_first_of_pid(c, ident.pid); k; k = k->same_pid) {
        if (k->ident.start_ticks != ident.start_ticks)
            continue;
        if (has_name(k, space, name))
            return false;
        is_known = is_known || !asks || !claim_gives_way(k, asks);
    }
    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;

        if (op->run.pid != ident.pid || !has_start(op) || !core_is_same(op->run, ident))
            continue;
        if (has_name(op->proc, space, name))
            return false;
        is_known = is_known || !asks || !claim_gives_way(op->proc, asks);
    }
    return is_known;
}

/* Before its first probe after the command, or before one that has found more than what ran
 * before it. */
static bool awaits_process(const struct op *op)
{
    const struct proc *k = op->proc;
    bool is_begun = op->phase == PHASE_FIND || op->phase == PHASE_RUN || op->phase == PHASE_LATE ||
                    op->phase == PHASE_SETTLE || op->phase == PHASE_CHECK;

    return is_begun && op_may_stay(op) && (!k->ident.pid || core_is_same(k->ident, op->old));
}

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    while (n && folder[n - 1] == '/')
        n--;
    return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

/* Whether one process may fit both: without a folder any does. */
static bool may_share(const struct proc_identity *a, const struct proc_identity *b)
{
    return !strcmp(a->proc_name, b->proc_name) &&
           (is_below(a->setup_path, b->setup_path) || is_below(b->setup_path, a->setup_path));
}

/* Whether the process can be one of this start.  As long as it is not known when the command began,
 * it began no earlier than the operation asked for its slot; start_ticks are 1/100 s, and a second
 * is for the difference of the two clocks. */
static bool is_young_enough(const struct op *op, struct core_ident ident)
{
    enum { MS_PER_TICK = 10, SLACK_MS = 1000 };

    return op->run.pid < 0 ? ident.start_ticks * MS_PER_TICK + SLACK_MS >= op->asked_ms
                           : ident.start_ticks >= op->proc->start.start_ticks;
}

bool core_may_be_others(const struct core *c, struct core_ident ident, const char *space,
                        const char *name, const struct proc_identity *identity)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;

        if (awaits_process(op) && !has_name(op->proc, space, name) &&
            may_share(&op->command.spec.identity, identity) && is_young_enough(op, ident))
            return true;
    }
    return false;
}

void core_each(const struct core *c, core_each_fn *fn, void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        const struct proc *k = e->value;

        fn(arg, k->meta.space, k->meta.name, &k->spec);
    }
}

bool core_find_whose(const struct core *c, struct core_ident ident, struct core_whose *ret)
{
    const struct proc *k = core_proc_of_ident(c, ident);

    if (k)
        *ret = (struct core_whose){ k->meta.space, k->meta.name, k->start_from };
    return k != NULL;
}

bool core_find_run(const struct core *c, uint64_t id, struct core_whose *ret)
{
    const struct op *op = map_find(&c->by_id, (const char *)&id, sizeof(id));

    if (op)
        *ret = (struct core_whose){ op->proc->meta.space, op->proc->meta.name, op->out_from };
    return op != NULL;
}

void core_each_running(const struct core *c, core_running_fn *fn, void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_pid, &at));) {
        for (const struct proc *k = e->value; k; k = k->same_pid)
            fn(arg, k->meta.space, k->meta.name, k->ident);
    }
    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;

        if (has_start(op))
            fn(arg, op->proc->meta.space, op->proc->meta.name, op->run);
    }
}

void core_on_slow(struct core *c, uint64_t id, int64_t now_ms)
{
    struct op *op = map_find(&c->by_id, (const char *)&id, sizeof(id));

    c->now_ms = now_ms;
    if (op && op->phase != PHASE_QUEUE)
        op_queue_leave(op);
}

bool core_awaits_probe(const struct core *c, uint64_t id, uint64_t question)
{
    const struct op *op = map_find(&c->by_id, (const char *)&id, sizeof(id));

    return op && op->questions == question;
}

bool core_has_run(const struct core *c, uint64_t id)
{
    return map_find(&c->by_id, (const char *)&id, sizeof(id)) != NULL || side_command_has(c, id);
}
