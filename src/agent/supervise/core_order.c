/* SPDX-License-Identifier: MIT */
/* core_order.c - see core_order.h. */
#include "agent/supervise/core_order.h"

#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_op.h"
#include "base/mem/mem.h"

/* State of a process that waits, or that others wait for. */
struct order {
    struct proc *proc, *on;      /* on: the process it waits for; NULL: to be evaluated again */
    TAILQ_HEAD(, order) waiters; /* processes that wait for this one */
    TAILQ_ENTRY(order) link;     /* in on->order->waiters */
    TAILQ_ENTRY(order) in_all;   /* in orders.all */
    TAILQ_ENTRY(order) in_due;
    bool is_waiting, is_due, is_over; /* is_over: it has waited long enough */
    int64_t until_ms, has_end_ms;     /* has_end_ms: time of the last has_end() result */
};

/* A boot of the host: all processes to start, by priority. */
struct boot {
    struct place {
        int64_t priority;
        size_t number; /* keeps the order of equal priorities */
        struct proc *proc;
    } * places;
    size_t n, from, to; /* [from, to) is the current level; later ones follow */
    size_t left;        /* processes of the level that are neither up nor failed */
    int64_t until_ms;   /* end of the level's time limit */
};

struct orders {
    TAILQ_HEAD(, order) all; /* waiting processes, in order of expiry */
    TAILQ_HEAD(, order) due; /* processes with a changed `on` */
    struct timer timer;
    struct boot *boot; /* NULL: complete, or the host was up before the agent */
};

static void arm(struct core *c)
{
    const struct orders *all = c->orders;
    const struct order *first = TAILQ_FIRST(&all->all);
    int64_t due_ms = first ? first->until_ms : INT64_MAX;

    if (all->boot && all->boot->until_ms < due_ms)
        due_ms = all->boot->until_ms;
    if (!TAILQ_EMPTY(&all->due) || (all->boot && !all->boot->left))
        due_ms = c->now_ms;
    if (due_ms == INT64_MAX)
        timers_stop(&c->timers, &c->orders->timer);
    else
        timers_set(&c->timers, &c->orders->timer, due_ms);
}

/* ---- waiting */

static struct order *order_of(struct proc *k)
{
    if (k->order)
        return k->order;
    k->order = xalloc(sizeof(*k->order));
    k->order->proc = k;
    TAILQ_INIT(&k->order->waiters);
    return k->order;
}

static void free_if_idle(struct proc *k)
{
    struct order *o = k->order;

    if (!o || o->is_waiting || o->is_due || !TAILQ_EMPTY(&o->waiters))
        return;
    free(o);
    k->order = NULL;
}

static void order_leave(struct order *o)
{
    struct proc *on = o->on;

    if (!on)
        return;
    o->on = NULL;
    TAILQ_REMOVE(&on->order->waiters, o, link);
    free_if_idle(on);
}

/* Restarts the time limit of the wait. */
static void renew(struct order *o)
{
    struct orders *all = o->proc->core->orders;

    if (!o->is_waiting)
        return;
    TAILQ_REMOVE(&all->all, o, in_all);
    TAILQ_INSERT_TAIL(&all->all, o, in_all);
    o->until_ms = o->proc->core->now_ms + ORDER_MAX_MS;
}

/* The process is being started now: restarts the time limits of its waiters. */
static void renew_waiters(struct proc *k)
{
    struct order *o;

    if (!k->order)
        return;
    TAILQ_FOREACH(o, &k->order->waiters, link)
        renew(o);
}

static void end_wait(struct proc *k)
{
    struct orders *all = k->core->orders;
    struct order *o = k->order;

    if (!o || !o->is_waiting)
        return;
    order_leave(o);
    TAILQ_REMOVE(&all->all, o, in_all);
    if (o->is_due)
        TAILQ_REMOVE(&all->due, o, in_due);
    o->is_waiting = o->is_due = o->is_over = false;
    renew_waiters(k);
    free_if_idle(k);
    core_tell_process(k);
}

static void begin_wait(struct proc *k, struct proc *on)
{
    struct orders *all = k->core->orders;
    struct order *o = order_of(k);

    if (!o->is_waiting) {
        o->is_waiting = true;
        o->until_ms = k->core->now_ms + ORDER_MAX_MS;
        TAILQ_INSERT_TAIL(&all->all, o, in_all);
    }
    if (o->on == on)
        return;
    order_leave(o);
    o->on = on;
    core_tell_process(k);
    TAILQ_INSERT_TAIL(&order_of(on)->waiters, o, link);
    arm(k->core);
}

/* Waiters are evaluated by the timer, which is due at once, and not recursively: a long chain
 * would need a deep stack. */
static void wake_waiters(struct proc *k)
{
    struct orders *all = k->core->orders;
    struct order *o;

    while (k->order && (o = TAILQ_FIRST(&k->order->waiters))) {
        if (!o->is_due) /* it may be due already, and have begun to wait for k meanwhile */
            TAILQ_INSERT_TAIL(&all->due, o, in_due);
        o->is_due = true;
        order_leave(o); /* the last one may free k's own order */
    }
    arm(k->core);
}

/* ---- state */

/* A process that is being started is not up yet, even if it has been found. */
static bool is_up(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return k->ident.pid && !(op && op_is_acting(op) && op_starts(op));
}

/* The first process of `after` that is not up and will be restarted; NULL: none. */
static struct proc *first_missing(const struct proc *k)
{
    for (size_t i = 0; i < k->spec.extra.after.n; i++) {
        struct proc *on = order_named(k, &k->spec.extra, i);

        if (on && on != k && restart_is_wanted(on) && !is_up(on))
            return on;
    }
    return NULL;
}

/* ---- boot */

static bool is_late(const struct place *p)
{
    return p->proc && p->proc->is_in_level;
}

/* The process is up, or the level no longer waits for it. */
static void order_settle(struct proc *k)
{
    struct boot *b = k->core->orders->boot;

    if (k->is_in_level && b) {
        b->left--;
        b->until_ms = k->core->now_ms + ORDER_MAX_MS;
    }
    k->is_booting = k->is_in_level = false;
    while (b && b->from < b->to && !is_late(&b->places[b->from]))
        b->from++;
    wake_waiters(k);
}

/* Its first attempt has failed, or it is up, or it is not wanted any more. */
static bool is_settled(const struct proc *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return !restart_is_wanted(k) || is_up(k) || (k->failed_ms && !(op && op_is_ours(op)));
}

static void end_boot(struct core *c)
{
    struct boot *b = c->orders->boot;

    for (size_t i = 0; i < b->n; i++) {
        if (b->places[i].proc)
            b->places[i].proc->is_booting = b->places[i].proc->is_in_level = false;
    }
    c->orders->boot = NULL;
    free(b->places);
    free(b);
}

/* Starts the next level with processes that are not up; false: there is none. */
static bool begin_level(struct core *c)
{
    struct boot *b = c->orders->boot;

    b->from = b->to;
    b->left = 0;
    b->until_ms = c->now_ms + ORDER_MAX_MS;
    for (; b->to < b->n; b->to++) {
        struct place *p = &b->places[b->to];

        if (b->left && p->priority != p[-1].priority)
            break;
        if (!p->proc || !p->proc->is_booting)
            continue;
        p->proc->is_in_level = true;
        b->left++;
        renew_waiters(p->proc);
    }
    return b->left > 0;
}

static int order_compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

void order_on_boot(struct core *c)
{
    struct boot *b = xalloc(sizeof(*b));
    struct map_entry *e;

    b->places = xalloc((c->proc.n + 1) * sizeof(*b->places));
    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        struct proc *k = e->value;

        k->is_booting = restart_is_wanted(k);
        if (k->is_booting) {
            b->places[b->n] = (struct place){ k->spec.extra.priority, b->n, k };
            b->n++;
        }
    }
    qsort(b->places, b->n, sizeof(*b->places), order_compare);
    c->orders->boot = b;
    (void)begin_level(c); /* its processes are evaluated in turn, like all others */
    if (b->to == b->n)
        end_boot(c);
    arm(c);
}

/* A process that delays the next level, to name one. */
static struct proc *first_of_level(const struct boot *b)
{
    for (size_t i = b->from; i < b->to; i++) {
        if (is_late(&b->places[i]))
            return b->places[i].proc;
    }
    return NULL;
}

static void go_on_without(struct core *c)
{
    struct boot *b = c->orders->boot;
    struct proc *late = first_of_level(b);

    if (late)
        core_tell_event(late, "process_order_passed",
                        "%s has not come up in %d s; those of the next priority are started now",
                        late->meta.name, ORDER_MAX_MS / 1000);
    for (size_t i = b->from; i < b->to; i++) {
        if (is_late(&b->places[i]))
            order_settle(b->places[i].proc);
    }
}

/* Processes of the next level now wait for others and are reported again; for the rest one
 * report is enough. */
static void tell_next(const struct boot *b)
{
    for (size_t i = b->to; i < b->n && b->places[i].priority == b->places[b->to].priority; i++) {
        if (b->places[i].proc)
            core_tell_process(b->places[i].proc);
    }
}

/* The last level needs no waiting. */
static void go_on_booting(struct core *c)
{
    struct boot *b = c->orders->boot;
    size_t from, to;
    struct proc **begun;

    if (b->left)
        go_on_without(c);
    begin_level(c);
    from = b->from;
    to = b->to;
    begun = xalloc((to - from + 1) * sizeof(*begun));
    for (size_t i = from; i < to; i++)
        begun[i - from] = b->places[i].proc;
    tell_next(b);
    if (to == b->n)
        end_boot(c);
    for (size_t i = 0; i < to - from; i++) {
        if (begun[i])
            restart_evaluate(begun[i]);
    }
    free(begun);
}

/* ---- interface of core_restart.c */

bool order_may_start(struct proc *k)
{
    struct proc *on;

    if (k->is_booting && !k->is_in_level)
        return false;
    on = first_missing(k);
    if (!on || (k->order && k->order->is_over)) {
        end_wait(k);
        return true;
    }
    begin_wait(k, on);
    if (k->is_in_level && !on->is_in_level)
        order_settle(k); /* that process is in a later level, and would wait for this one */
    return false;
}

void order_on_change(struct proc *k)
{
    if (!k->core->is_started)
        return;
    if (k->order && k->order->is_waiting && (k->ident.pid || !restart_is_wanted(k)))
        end_wait(k);
    if (k->is_booting && is_settled(k))
        order_settle(k);
    else if (k->order && (is_up(k) || !restart_is_wanted(k)))
        wake_waiters(k);
}

const char *order_waits_for(const struct proc *k)
{
    const struct boot *b = k->core->orders->boot;
    const struct proc *on = k->order ? k->order->on : NULL;

    if (b && k->is_booting && !k->is_in_level)
        on = first_of_level(b);
    return on ? on->key : "";
}

/* ---- timer */

/* The process may not be wanted any more, and then stops waiting. */
static void look_at(struct proc *k)
{
    restart_evaluate(k);
    if (k->order && k->order->is_waiting && !k->order->on)
        end_wait(k);
}

static void look_at_due(struct core *c)
{
    struct order *o;

    while ((o = TAILQ_FIRST(&c->orders->due))) {
        TAILQ_REMOVE(&c->orders->due, o, in_due);
        o->is_due = false;
        look_at(o->proc);
    }
}

static struct order *next_waiting(const struct order *o)
{
    struct order *next = o->on ? o->on->order : NULL;

    return next && next->is_waiting ? next : NULL;
}

/* Whether the chain of waits ends at a process that does not wait.  The result is stored for all
 * processes of the chain and valid for the current time, so that a round over many costs no more
 * than one. */
static bool has_end(struct order *o)
{
    int64_t now_ms = o->proc->core->now_ms;
    size_t most = o->proc->core->proc.n;
    struct order *p = o;

    while (p && p->has_end_ms != now_ms && most--)
        p = next_waiting(p);
    if (p && p->has_end_ms != now_ms)
        return false;
    for (p = o; p && p->has_end_ms != now_ms; p = next_waiting(p))
        p->has_end_ms = now_ms;
    return true;
}

/* Whether the process that it waits for has not had its own turn yet.  In a dependency cycle,
 * which can arise by other means than operations, no process has a turn. */
static bool is_early(struct order *o)
{
    if (o->on && o->on->is_booting && !o->on->is_in_level)
        return true;
    return next_waiting(o) && has_end(o);
}

static void pass_late(struct core *c)
{
    struct order *o;

    while ((o = TAILQ_FIRST(&c->orders->all)) && o->until_ms <= c->now_ms) {
        struct proc *k = o->proc;

        if (is_early(o)) {
            renew(o);
            continue;
        }
        core_tell_event(k, "process_order_passed",
                        "%s is started now: %s, which it comes after, has not come up in %d s",
                        k->meta.name, order_waits_for(k), ORDER_MAX_MS / 1000);
        order_leave(o);
        o->is_over = true;
        look_at(k);
    }
}

static void order_on_timer(void *core)
{
    struct core *c = core;
    const struct boot *b;

    look_at_due(c);
    pass_late(c);
    b = c->orders->boot;
    if (b && (!b->left || b->until_ms <= c->now_ms))
        go_on_booting(c);
    arm(c);
}

/* ---- life cycle */

void order_begin(struct core *c)
{
    c->orders = xalloc(sizeof(*c->orders));
    TAILQ_INIT(&c->orders->all);
    TAILQ_INIT(&c->orders->due);
    timer_init(&c->orders->timer, order_on_timer, c);
}

void order_free(struct proc *k)
{
    struct orders *all = k->core->orders;
    struct order *o = k->order;

    if (!all)
        return; /* all processes are freed, and no waits remain */
    for (size_t i = 0; all->boot && i < all->boot->n && k->is_booting; i++) {
        if (all->boot->places[i].proc == k)
            all->boot->places[i].proc = NULL;
    }
    if (!o && !k->is_in_level)
        return;
    order_settle(k);
    if (!k->order)
        return;
    order_leave(o);
    if (o->is_waiting)
        TAILQ_REMOVE(&all->all, o, in_all);
    if (o->is_due)
        TAILQ_REMOVE(&all->due, o, in_due);
    free(o);
    k->order = NULL;
}

void order_end(struct core *c)
{
    struct map_entry *e;

    if (c->orders->boot)
        end_boot(c);
    for (size_t at = 0; (e = map_next(&c->proc, &at));)
        order_free(e->value);
    timers_stop(&c->timers, &c->orders->timer);
    free(c->orders);
    c->orders = NULL;
}
