/* SPDX-License-Identifier: MIT */
/* sim_store.c - the server's store.
 *
 * A write takes effect some time before the server is told; a server that is killed in between
 * finds it after its restart.  A store that refuses says so at once: then a task or a cancel is not
 * accepted, and a result is retried. */
#include "tests/sim/lib/sim_in.h"

enum { AGAIN_MS = 500 };

static struct event *soon(struct sim *s, int64_t in_ms, const struct event *from,
                          void (*fn)(struct event *e))
{
    struct event *e = sim_later(s, in_ms, -1, s->server_life, fn);

    if (from) {
        e->a = from->a;
        e->b = from->b;
        e->c = from->c;
    }
    return e;
}

static struct event *write_soon(struct sim *s, void (*fn)(struct event *e))
{
    return soon(s, 1 + (int64_t)sim_below(s, 30), NULL, fn);
}

static void say_soon(struct event *written, void (*fn)(struct event *e))
{
    soon(written->sim, (int64_t)sim_below(written->sim, 5), written, fn);
}

static bool refuses(struct sim *s)
{
    if (s->now_ms >= s->store_down_ms)
        return false;
    s->report.counts[SIM_REFUSALS]++;
    return true;
}

/* ---- a task */

static void on_task_said(struct event *e)
{
    struct sim *s = e->sim;
    struct sim_task *t = &s->tasks[e->a];
    struct err refused;

    err_set(&refused, ERR_UNAVAILABLE, "the store is locked");
    hub_on_task_stored(s->hub, t->id, t->is_stored ? NULL : &refused, s->now_ms);
    server_wake(s);
    if (!t->is_stored)
        return;
    t->is_accepted = true;
    check_poll(s, t);
}

static void on_task(struct event *e)
{
    struct sim *s = e->sim;
    struct sim_task *t = &s->tasks[e->a];

    t->is_stored = !refuses(s);
    sim_trace(s, "store: task %s%s", t->id, t->is_stored ? "" : " is refused");
    say_soon(e, on_task_said);
}

void store_put_task(struct sim *s, int task)
{
    write_soon(s, on_task)->a = task;
}

/* ---- a result: the first one counts, later ones change nothing */

static void on_result_said(struct event *e)
{
    struct sim *s = e->sim;

    hub_on_result_stored(s->hub, s->tasks[e->a].id, e->b, NULL, s->now_ms);
    server_wake(s);
    check_poll(s, &s->tasks[e->a]);
}

/* The retry found it stored, so it is read. */
static void on_result_found(struct event *e)
{
    struct sim *s = e->sim;
    struct message_result found = { .task = s->tasks[e->a].id,
                                    .item = e->b,
                                    .code = s->tasks[e->a].items[e->b].code,
                                    .text = "as it was stored" };

    shape_defaults(&proc_view_shape, &found.view);
    hub_on_result_stored(s->hub, found.task, e->b, &found, s->now_ms);
    server_wake(s);
    check_poll(s, &s->tasks[e->a]);
}

static void on_result(struct event *e)
{
    struct sim *s = e->sim;
    struct sim_task *t = &s->tasks[e->a];
    struct sim_item *item = &t->items[e->b];
    bool was_there = item->code != CODE_WAITING;

    if (refuses(s)) {
        soon(s, AGAIN_MS, e, on_result);
        return;
    }
    if (item->code == CODE_WAITING) {
        item->code = e->c;
        s->report.counts[SIM_CANCELLED] += e->c == CODE_CANCELLED;
        s->report.counts[SIM_LATE] += e->c == CODE_DEADLINE;
    } else if (item->code != e->c) {
        sim_fail(s, "task %s item %lld: result %lld became %lld", t->id, (long long)e->b,
                 (long long)item->code, (long long)e->c);
    }
    sim_trace(s, "store: task %s item %lld is %lld", t->id, (long long)e->b, (long long)item->code);
    check_unrun(s, t, e->b);
    if (s->world.has[TRAIT_REFUSALS] && sim_chance(s, 10) && !was_there)
        soon(s, AGAIN_MS, e, on_result); /* written, but not acknowledged */
    else
        say_soon(e, was_there ? on_result_found : on_result_said);
}

void store_put_result(struct sim *s, int task, int64_t item, int64_t code)
{
    struct event *e = write_soon(s, on_result);

    e->a = task;
    e->b = item;
    e->c = code;
}

/* ---- cancel of a task */

static void on_cancel_said(struct event *e)
{
    struct sim *s = e->sim;

    hub_cancel(s->hub, s->tasks[e->a].id, s->now_ms);
    server_wake(s);
}

static void on_cancel(struct event *e)
{
    struct sim *s = e->sim;

    if (refuses(s))
        return;
    s->tasks[e->a].is_cancelled = true;
    sim_trace(s, "store: task %s is cancelled", s->tasks[e->a].id);
    say_soon(e, on_cancel_said);
}

void store_put_cancel(struct sim *s, int task)
{
    write_soon(s, on_cancel)->a = task;
}
