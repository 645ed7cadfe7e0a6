/* SPDX-License-Identifier: MIT */
/* core_order.c - see core_order.h. */
#include "agent/core_order.h"

#include <stdlib.h>
#include <string.h>

#include "agent/core_op.h"
#include "base/mem.h"

/* Of a process that waits, or that others wait for. */
struct order {
    struct kept *kept, *on;      /* on: that it waits for now; NULL: it is to be looked at again */
    TAILQ_HEAD(, order) waiters; /* for this one */
    TAILQ_ENTRY(order) link;     /* among those of `on` */
    TAILQ_ENTRY(order) in_all;   /* of those that wait */
    TAILQ_ENTRY(order) in_due;
    bool is_waiting, is_due, is_over; /* over: it has waited long enough */
    int64_t until_ms, has_end_ms;     /* has_end_ms: when that was last found out */
};

/* A host that comes up: all that are to be pulled up, by priority. */
struct boot {
    struct place {
        int64_t priority;
        size_t number; /* equal ones stay in their order */
        struct kept *kept;
    } * places;
    size_t n, from, to; /* from here to there they are being pulled up; others come later */
    size_t left;        /* of these neither up nor failed */
    int64_t until_ms;   /* unless something happens before */
};

struct orders {
    TAILQ_HEAD(, order) all; /* that wait: as all wait equally long, the first is over first */
    TAILQ_HEAD(, order) due; /* whose `on` has changed */
    struct timer timer;
    struct boot *boot; /* NULL: it is over, or the host was up before us */
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

/* ---- who waits for whom */

static struct order *order_of(struct kept *k)
{
    if (k->order)
        return k->order;
    k->order = xalloc(sizeof(*k->order));
    k->order->kept = k;
    TAILQ_INIT(&k->order->waiters);
    return k->order;
}

static void free_if_idle(struct kept *k)
{
    struct order *o = k->order;

    if (!o || o->is_waiting || o->is_due || !TAILQ_EMPTY(&o->waiters))
        return;
    free(o);
    k->order = NULL;
}

static void leave(struct order *o)
{
    struct kept *on = o->on;

    if (!on)
        return;
    o->on = NULL;
    TAILQ_REMOVE(&on->order->waiters, o, link);
    free_if_idle(on);
}

/* Its time begins anew. */
static void renew(struct order *o)
{
    struct orders *all = o->kept->core->orders;

    if (!o->is_waiting)
        return;
    TAILQ_REMOVE(&all->all, o, in_all);
    TAILQ_INSERT_TAIL(&all->all, o, in_all);
    o->until_ms = o->kept->core->now_ms + ORDER_MAX_MS;
}

/* From now on it is on its way itself, and has its time. */
static void renew_waiters(struct kept *k)
{
    struct order *o;

    if (!k->order)
        return;
    TAILQ_FOREACH(o, &k->order->waiters, link)
    renew(o);
}

static void end_wait(struct kept *k)
{
    struct orders *all = k->core->orders;
    struct order *o = k->order;

    if (!o || !o->is_waiting)
        return;
    leave(o);
    TAILQ_REMOVE(&all->all, o, in_all);
    if (o->is_due)
        TAILQ_REMOVE(&all->due, o, in_due);
    o->is_waiting = o->is_due = o->is_over = false;
    renew_waiters(k);
    free_if_idle(k);
    core_tell_process(k);
}

static void begin_wait(struct kept *k, struct kept *on)
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
    leave(o);
    o->on = on;
    core_tell_process(k);
    TAILQ_INSERT_TAIL(&order_of(on)->waiters, o, link);
    arm(k->core);
}

/* They are looked at again when the time comes, which is now: not from within, or a long
 * chain would be a deep one. */
static void wake_waiters(struct kept *k)
{
    struct orders *all = k->core->orders;
    struct order *o;

    while (k->order && (o = TAILQ_FIRST(&k->order->waiters))) {
        if (!o->is_due) /* it may be, and have been told to wait for k meanwhile */
            TAILQ_INSERT_TAIL(&all->due, o, in_due);
        o->is_due = true;
        leave(o); /* the last one may take k's own with it */
    }
    arm(k->core);
}

/* ---- what is up */

/* What is just being started has not come up yet, whatever can be seen of it. */
static bool is_up(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return k->ident.pid && !(op && op_is_acting(op) && op_starts(op));
}

/* The first that it comes after, and that is on its way; NULL: none. */
static struct kept *first_missing(const struct kept *k)
{
    for (size_t i = 0; i < k->spec.extra.after.n; i++) {
        struct kept *on = order_named(k, &k->spec.extra, i);

        if (on && on != k && keep_is_wanted(on) && !is_up(on))
            return on;
    }
    return NULL;
}

/* ---- a host comes up */

static bool is_late(const struct place *p)
{
    return p->kept && p->kept->is_in_level;
}

/* It is up, or nobody waits for it any longer. */
static void settle(struct kept *k)
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

/* Its first try has failed, if there was one; or it is up, or not wanted any more. */
static bool is_settled(const struct kept *k)
{
    const struct op *op = TAILQ_FIRST(&k->ops);

    return !keep_is_wanted(k) || is_up(k) || (k->tries > 0 && !(op && op_is_ours(op)));
}

static void end_boot(struct core *c)
{
    struct boot *b = c->orders->boot;

    for (size_t i = 0; i < b->n; i++) {
        if (b->places[i].kept)
            b->places[i].kept->is_booting = b->places[i].kept->is_in_level = false;
    }
    c->orders->boot = NULL;
    free(b->places);
    free(b);
}

/* The next ones that are not up already; false: there are none. */
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
        if (!p->kept || !p->kept->is_booting)
            continue;
        p->kept->is_in_level = true;
        b->left++;
        renew_waiters(p->kept);
    }
    return b->left > 0;
}

static int compare(const void *a, const void *b)
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

    b->places = xalloc((c->kept.n + 1) * sizeof(*b->places));
    for (size_t at = 0; (e = map_next(&c->kept, &at));) {
        struct kept *k = e->value;

        k->is_booting = keep_is_wanted(k);
        if (k->is_booting) {
            b->places[b->n] = (struct place){ k->spec.extra.priority, b->n, k };
            b->n++;
        }
    }
    qsort(b->places, b->n, sizeof(*b->places), compare);
    c->orders->boot = b;
    (void)begin_level(c); /* those of it are looked at in their turn, like all */
    if (b->to == b->n)
        end_boot(c);
    arm(c);
}

/* Who holds the others up, to name one. */
static struct kept *first_of_level(const struct boot *b)
{
    for (size_t i = b->from; i < b->to; i++) {
        if (is_late(&b->places[i]))
            return b->places[i].kept;
    }
    return NULL;
}

static void go_on_without(struct core *c)
{
    struct boot *b = c->orders->boot;
    struct kept *late = first_of_level(b);

    if (late)
        core_tell_event(late, "process_order_passed",
                        "%s has not come up in %d s; those of the next priority are started now",
                        late->meta.name, ORDER_MAX_MS / 1000);
    for (size_t i = b->from; i < b->to; i++) {
        if (is_late(&b->places[i]))
            settle(b->places[i].kept);
    }
}

/* Those that come next wait for others now; for the rest, being told once does. */
static void tell_next(const struct boot *b)
{
    for (size_t i = b->to; i < b->n && b->places[i].priority == b->places[b->to].priority; i++) {
        if (b->places[i].kept)
            core_tell_process(b->places[i].kept);
    }
}

/* Those of the last level need nobody to wait for them. */
static void go_on_booting(struct core *c)
{
    struct boot *b = c->orders->boot;
    size_t from, to;
    struct kept **begun;

    if (b->left)
        go_on_without(c);
    begin_level(c);
    from = b->from;
    to = b->to;
    begun = xalloc((to - from + 1) * sizeof(*begun));
    for (size_t i = from; i < to; i++)
        begun[i - from] = b->places[i].kept;
    tell_next(b);
    if (to == b->n)
        end_boot(c);
    for (size_t i = 0; i < to - from; i++) {
        if (begun[i])
            keep_look(begun[i]);
    }
    free(begun);
}

/* ---- what the keeper asks */

bool order_may_start(struct kept *k)
{
    struct kept *on;

    if (k->is_booting && !k->is_in_level)
        return false;
    on = first_missing(k);
    if (!on || (k->order && k->order->is_over)) {
        end_wait(k);
        return true;
    }
    begin_wait(k, on);
    if (k->is_in_level && !on->is_in_level)
        settle(k); /* that one comes later, and would wait for us */
    return false;
}

void order_on_change(struct kept *k)
{
    if (!k->core->is_started)
        return;
    if (k->order && k->order->is_waiting && (k->ident.pid || !keep_is_wanted(k)))
        end_wait(k);
    if (k->is_booting && is_settled(k))
        settle(k);
    else if (k->order && (is_up(k) || !keep_is_wanted(k)))
        wake_waiters(k);
}

const char *order_waits_for(const struct kept *k)
{
    const struct boot *b = k->core->orders->boot;
    const struct kept *on = k->order ? k->order->on : NULL;

    if (b && k->is_booting && !k->is_in_level)
        on = first_of_level(b);
    return on ? on->key : "";
}

/* ---- time */

/* It may not be wanted any more, and then waits for nobody. */
static void look_at(struct kept *k)
{
    keep_on_time(k);
    if (k->order && k->order->is_waiting && !k->order->on)
        end_wait(k);
}

static void look_at_due(struct core *c)
{
    struct order *o;

    while ((o = TAILQ_FIRST(&c->orders->due))) {
        TAILQ_REMOVE(&c->orders->due, o, in_due);
        o->is_due = false;
        look_at(o->kept);
    }
}

static struct order *next_waiting(const struct order *o)
{
    struct order *next = o->on ? o->on->order : NULL;

    return next && next->is_waiting ? next : NULL;
}

/* Whether there is somebody at the end of it who waits for nobody.  What is found out holds
 * for this moment, and for all on the way, so that a round of many takes no longer than one. */
static bool has_end(struct order *o)
{
    int64_t now_ms = o->kept->core->now_ms;
    size_t most = o->kept->core->kept.n;
    struct order *p = o;

    while (p && p->has_end_ms != now_ms && most--)
        p = next_waiting(p);
    if (p && p->has_end_ms != now_ms)
        return false;
    for (p = o; p && p->has_end_ms != now_ms; p = next_waiting(p))
        p->has_end_ms = now_ms;
    return true;
}

/* Whether whom it waits for has not had its own turn yet.  A circle, which can come about
 * otherwise than by operations, is none's turn. */
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
        struct kept *k = o->kept;

        if (is_early(o)) {
            renew(o);
            continue;
        }
        core_tell_event(k, "process_order_passed",
                        "%s is started now: %s, which it comes after, has not come up in %d s",
                        k->meta.name, order_waits_for(k), ORDER_MAX_MS / 1000);
        leave(o);
        o->is_over = true;
        look_at(k);
    }
}

static void on_timer(void *core)
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

/* ---- its life */

void order_begin(struct core *c)
{
    c->orders = xalloc(sizeof(*c->orders));
    TAILQ_INIT(&c->orders->all);
    TAILQ_INIT(&c->orders->due);
    timer_init(&c->orders->timer, on_timer, c);
}

void order_free(struct kept *k)
{
    struct orders *all = k->core->orders;
    struct order *o = k->order;

    if (!all)
        return; /* all go, and nobody waits for anybody */
    for (size_t i = 0; all->boot && i < all->boot->n && k->is_booting; i++) {
        if (all->boot->places[i].kept == k)
            all->boot->places[i].kept = NULL;
    }
    if (!o && !k->is_in_level)
        return;
    settle(k);
    if (!k->order)
        return;
    leave(o);
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
    for (size_t at = 0; (e = map_next(&c->kept, &at));)
        order_free(e->value);
    timers_stop(&c->timers, &c->orders->timer);
    free(c->orders);
    c->orders = NULL;
}
