/* SPDX-License-Identifier: MIT */
/* core.c - what happens finds what it is about. */
#include "agent/core.h"

#include <stdlib.h>
#include <string.h>

#include "agent/core_cancel.h"
#include "agent/core_care.h"
#include "agent/core_cause.h"
#include "agent/core_cycle.h"
#include "agent/core_errand.h"
#include "agent/core_group.h"
#include "agent/core_in.h"
#include "agent/core_local.h"
#include "agent/core_op.h"
#include "agent/core_order.h"
#include "agent/core_pong.h"
#include "agent/core_ready.h"
#include "base/mem.h"

/* Operations that wait for one process; more are refused.  And on all: more are not taken,
 * and so come again.  What the server has not stored counts. */
enum { OPS_MAX = 16, COMMANDS_MAX = 8192 };

struct core *core_new(const struct core_hands *hands, void *arg, int64_t now_ms, int64_t wall_ms)
{
    struct core *c = xalloc(sizeof(*c));

    c->hands = hands;
    c->arg = arg;
    c->now_ms = now_ms;
    c->wall_ms = wall_ms;
    c->clock_ms = wall_ms - now_ms;
    pool_init(&c->ops, OP_BYTES);
    TAILQ_INIT(&c->waiting);
    op_queue_init(&c->queue);
    TAILQ_INIT(&c->to_tell);
    event_begin(c);
    errands_begin(c);
    limit_begin(c);
    order_begin(c);
    return c;
}

static void free_kept(struct kept *k)
{
    while (!TAILQ_EMPTY(&k->ops))
        op_free(TAILQ_FIRST(&k->ops));
    timers_stop(&k->core->timers, &k->timer);
    core_untell(k);
    care_free(k);
    errands_forget(k);
    limit_free(k);
    cycle_free(k);
    order_free(k);
    cause_free(k);
    arena_free(&k->arena);
    free(k);
}

void core_free(struct core *c)
{
    struct map_entry *e;

    if (!c)
        return;
    errands_close(c);
    order_end(c);
    for (size_t at = 0; (e = map_next(&c->kept, &at));)
        free_kept(e->value);
    for (size_t at = 0; (e = map_next(&c->done, &at));)
        book_free_done(e->value);
    event_end(c);
    errands_end(c);
    limit_end(c);
    map_free(&c->kept);
    map_free(&c->commands);
    map_free(&c->done);
    map_free(&c->by_id);
    map_free(&c->by_pid);
    map_free(&c->by_exited);
    timers_free(&c->timers);
    pool_done(&c->ops);
    free(c);
}

/* What an agent before us began last may not be in the journal, and may just be coming up.
 * For that long after our own start, and when it is looked for first, a pid file that names
 * nobody is no proof that nothing runs. */
enum { DOUBT_MS = 60 * 1000 };

static struct kept *new_kept(const char *key, size_t space_n)
{
    size_t n = strlen(key) + 1;
    struct kept *k = xalloc(sizeof(*k) + n + space_n + 1);

    memcpy(k->key, key, n);
    memcpy(k->key + n, key, space_n);
    k->meta.name = k->key + space_n + 1;
    k->meta.space = k->key + n;
    return k;
}

struct kept *core_kept(struct core *c, const char *space, const char *name)
{
    char *key = xprintf("%s:%s", space, name);
    struct kept *k = map_find_str(&c->kept, key);

    if (k) {
        free(key);
        return k;
    }
    k = new_kept(key, strlen(space));
    free(key);
    k->core = c;
    k->register_s = c->wall_ms / 1000;
    k->is_unseen = !c->is_started;
    k->doubt_ms = c->is_started ? 0 : c->now_ms + DOUBT_MS;
    shape_defaults(&proc_spec_shape, &k->spec);
    cause_init(k);
    timer_init(&k->timer, keep_on_time, k);
    TAILQ_INIT(&k->ops);
    map_put_str(&c->kept, k->key, k);
    return k;
}

/* The first of those that are known to be the process with this pid. */
static struct kept *first_of_pid(const struct core *c, int64_t pid)
{
    return map_find(&c->by_pid, (const char *)&pid, sizeof(pid));
}

/* The value it replaces is the next one: two names may stand for one process. */
static void put_pid(struct kept *k)
{
    k->same_pid = map_put(&k->core->by_pid, (const char *)&k->ident.pid, sizeof(k->ident.pid), k);
}

static void drop_pid(struct kept *k)
{
    struct kept *first = first_of_pid(k->core, k->ident.pid), *next;

    map_del(&k->core->by_pid, (const char *)&k->ident.pid, sizeof(k->ident.pid));
    for (; first; first = next) {
        next = first->same_pid;
        if (first != k)
            put_pid(first);
    }
}

void core_set_ident(struct kept *k, struct core_ident ident)
{
    struct core *c = k->core;

    if (ident.pid == k->ident.pid && ident.start_ticks == k->ident.start_ticks)
        return;
    if (k->ident.pid)
        drop_pid(k);
    k->ident = ident;
    k->cause.since_s = c->wall_ms / 1000;
    if (!ident.pid)
        return;
    k->is_owed = false;
    k->begun_ms = c->now_ms;
    timers_stop(&c->timers, &k->timer);
    put_pid(k);
    c->hands->watch(c->arg, ident);
}

/* So names that are only asked about do not fill the memory. */
void core_forget(struct kept *k)
{
    core_set_ident(k, (struct core_ident){ 0 });
    map_del_str(&k->core->kept, k->key);
    free_kept(k);
}

/* ---- what happens */

/* a - b, kept far enough from the ends for what is added later: both come from outside. */
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
        c->hands->send(c->arg, MESSAGE_TAKEN, &message_ref_shape, &ref);
    if (d)
        book_send_again(d);
    if (!d && !known)
        (void)core_take(c, m, less(m->deadline_ms, c->offset_ms)); /* else it comes again */
}

static void on_cancel(struct core *c, const struct message_cancel *m)
{
    if (!core_is_local(m->task))
        cancel_on_message(c, m, less(m->deadline_ms, c->offset_ms));
}

bool core_take(struct core *c, const struct message_command *m, int64_t deadline_ms)
{
    struct kept *k;
    struct op *op;
    size_t waiting = 0;

    if (c->commands.n + (core_is_local(m->task) ? 0 : c->n_unstored) >= COMMANDS_MAX)
        return false;
    k = core_kept(c, m->meta.space, m->meta.name);
    TAILQ_FOREACH(op, &k->ops, link)
    waiting++;
    op = op_new(c, m);
    op->deadline_ms = deadline_ms;
    op->is_refused = waiting >= OPS_MAX;
    op->mark = book_command(op);
    TAILQ_INSERT_TAIL(&c->waiting, op, waiting);
    return true;
}

static void on_welcome(struct core *c, const struct message_welcome *m)
{
    c->is_linked = true;
    c->offset_ms = less(m->server_ms, c->now_ms);
    core_tell_all(c, m->wants_processes);
    event_welcome(c);
    book_send_all(c);
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
        book_stored(c, ref->task, ref->item);
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
        op_on_durable(op);
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
        op_on_run(op, began, failure);
    else
        (void)errand_on_run(c, id, failure); /* or of nobody any more */
}

void core_on_run_end(struct core *c, uint64_t id, int status, const char *output, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op)
        op_on_run_end(op, status, output);
    else
        (void)errand_on_run_end(c, id, status, output); /* or of nobody any more */
}

void core_on_probe(struct core *c, uint64_t id, const struct core_probe *probe, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op)
        op_on_probe(op, probe);
}

static struct kept *kept_of(const struct core *c, struct core_ident ident)
{
    struct kept *k = first_of_pid(c, ident.pid);

    while (k && k->ident.start_ticks != ident.start_ticks)
        k = k->same_pid;
    return k;
}

void core_on_exit(struct core *c, struct core_ident ident, int status, int64_t now_ms)
{
    struct kept *k;
    struct op *op;

    c->now_ms = now_ms;
    while ((k = kept_of(c, ident))) {
        op = TAILQ_FIRST(&k->ops);
        if (op)
            op_before_exit(op, ident);
        core_set_ident(k, (struct core_ident){ 0 });
        cause_on_exit(k, ident, status);
        keep_on_exit(k);
        if (!TAILQ_EMPTY(&k->ops))
            op_on_exit(TAILQ_FIRST(&k->ops));
    }
}

void core_on_said(struct core *c, struct core_ident ident, const char *output, bool oom,
                  int64_t now_ms)
{
    struct kept *k = cause_find_exited(c, ident);

    c->now_ms = now_ms;
    if (!k)
        return;
    cause_on_said(k, output, oom);
    cycle_on_said(k, ident, output);
    if (core_is_known(k))
        book_process(k);
    core_tell_process(k);
}

void core_on_sample(struct core *c, struct core_ident ident, const struct core_sample *s,
                    int64_t now_ms)
{
    struct kept *k, *next;

    c->now_ms = now_ms;
    for (k = first_of_pid(c, ident.pid); k; k = next) {
        next = k->same_pid;
        if (k->ident.start_ticks == ident.start_ticks)
            limit_on_sample(k, s);
    }
}

static struct kept *find_kept(const struct core *c, const char *space, const char *name)
{
    char *key = xprintf("%s:%s", space, name);
    struct kept *k = map_find_str(&c->kept, key);

    free(key);
    return k;
}

void core_on_file(struct core *c, const char *space, const char *name, const char *path,
                  const char *md5, const char *why, int64_t now_ms)
{
    struct kept *k = find_kept(c, space, name);

    c->now_ms = now_ms;
    if (k)
        care_on_file(k, path, md5, why);
}

void core_on_port(struct core *c, uint64_t id, bool is_open, int64_t now_ms)
{
    struct op *op = op_by_id(c, id);

    c->now_ms = now_ms;
    if (op)
        ready_on_port(op, is_open);
}

void core_on_ready(struct core *c, const char *space, const char *name, struct core_ident main,
                   int64_t now_ms)
{
    struct kept *k = find_kept(c, space, name);

    c->now_ms = now_ms;
    if (k && !TAILQ_EMPTY(&k->ops))
        ready_on_notify(TAILQ_FIRST(&k->ops), main);
}

void core_each_unready(const struct core *c, core_unready_fn *fn, void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;
        const struct core_unready u = { op->kept->meta.space, op->kept->meta.name, op->kept->start,
                                        op->kept->ident, &op->command.spec.identity };

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

void core_on_zone(struct core *c)
{
    cycle_on_zone(c);
}

int64_t core_next_ms(const struct core *c)
{
    return timers_next_ms(&c->timers);
}

/* On a new boot nothing runs that ran before; how it ended, nobody knows. */
static void start_ident(struct kept *k, bool same_boot)
{
    struct core_ident ident = k->ident;
    int64_t since_s = k->cause.since_s, begun_ms = k->begun_ms;

    k->ident = (struct core_ident){ 0 };
    if (same_boot) {
        core_set_ident(k, ident);
        k->cause.since_s = since_s;
        k->begun_ms = begun_ms;
        return;
    }
    cycle_on_boot(k);
    k->start = k->run = (struct core_ident){ 0 };
    k->is_owed = k->hosted;
    k->tries = 0;
    keep_on_host(k);
    if (!ident.pid)
        return;
    cause_on_exit(k, ident, CORE_STATUS_UNKNOWN);
    k->cause.since_s = k->core->wall_ms / 1000;
}

/* After a loss of power the journal may not say that a command was begun, so none
 * of those without a result is begun now: it might be for the second time. */
static void start_kept(struct kept *k, bool same_boot)
{
    struct op *op;

    TAILQ_FOREACH(op, &k->ops, link)
    {
        if (!same_boot) {
            op->was_running = true;
            op->stops_first = false;
            op->run = (struct core_ident){ 0 };
            op->deadline_ms = k->core->now_ms; /* the old one was on another boot's clock */
            book_run(op);
        }
        op->mark = book_command(op);
        TAILQ_INSERT_TAIL(&k->core->waiting, op, waiting);
    }
    if (k->ident.pid && !k->run.pid && TAILQ_EMPTY(&k->ops))
        k->is_unseen = false; /* when it ends, some day, there is nobody to search for */
    if (k->run.pid)
        keep_resume(k); /* its record stays until it is done */
    op_begin_next(k);
}

void core_start(struct core *c, bool same_boot, int64_t now_ms, int64_t wall_ms)
{
    struct map_entry *e;

    c->now_ms = now_ms;
    c->wall_ms = wall_ms;
    cycle_on_clock(c);
    c->is_started = true;
    event_start(c);
    if (!same_boot)
        book_new_boot(c);
    for (size_t at = 0; (e = map_next(&c->kept, &at));)
        start_ident(e->value, same_boot);
    if (!same_boot)
        order_on_boot(c);
    for (size_t at = 0; (e = map_next(&c->kept, &at));)
        start_kept(e->value, same_boot);
}

void core_each_unclaimed(const struct core *c, void (*fn)(void *arg, struct core_ident ident),
                         void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_id, &at));) {
        const struct op *op = e->value;

        if (op->was_running && op->run.pid > 0)
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

bool core_is_others(const struct core *c, struct core_ident ident, const char *space,
                    const char *name)
{
    bool is_known = false;

    for (const struct kept *k = first_of_pid(c, ident.pid); k; k = k->same_pid) {
        if (k->ident.start_ticks != ident.start_ticks)
            continue;
        if (!strcmp(k->meta.space, space) && !strcmp(k->meta.name, name))
            return false;
        is_known = true;
    }
    return is_known;
}

void core_each(const struct core *c, core_each_fn *fn, void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->kept, &at));) {
        const struct kept *k = e->value;

        fn(arg, k->meta.space, k->meta.name, &k->spec);
    }
}

bool core_find_whose(const struct core *c, struct core_ident ident, struct core_whose *ret)
{
    const struct kept *k = kept_of(c, ident);

    if (k)
        *ret = (struct core_whose){ k->meta.space, k->meta.name, k->start_from };
    return k != NULL;
}

bool core_has_run(const struct core *c, uint64_t id)
{
    return map_find(&c->by_id, (const char *)&id, sizeof(id)) != NULL || errand_has(c, id);
}
