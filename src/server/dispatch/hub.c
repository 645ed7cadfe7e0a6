/* SPDX-License-Identifier: MIT */
/* hub.c - see hub.h. */
#include "server/dispatch/hub.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "server/dispatch/hub_copy.h"
#include "server/dispatch/hub_in.h"
#include "server/dispatch/hub_sched.h"

/* Timers handled per loop iteration: all items of a large task are due at once. */
enum { RINGS = 256 };

struct hub *hub_new(const struct hub_effects *effects, void *arg, int64_t now_ms)
{
    struct hub *h = xalloc(sizeof(*h));

    h->effects = effects;
    h->arg = arg;
    h->now_ms = h->started_ms = now_ms;
    sched_init(h);
    return h;
}

static void free_task(struct task *t)
{
    for (size_t i = 0; i < t->n; i++)
        item_stop(&t->items[i]);
    sched_app_done(t);
    arena_free(&t->arena);
    free(t->id);
    free(t);
}

static void free_agent(struct agent *a)
{
    timers_stop(&a->hub->timers, &a->offline);
    timers_stop(&a->hub->timers, &a->silence);
    timers_stop(&a->hub->timers, &a->full);
    free(a->id);
    free(a);
}

void hub_free(struct hub *h)
{
    struct map_entry *e;

    if (!h)
        return;
    for (size_t at = 0; (e = map_next(&h->tasks, &at));)
        free_task(e->value);
    for (size_t at = 0; (e = map_next(&h->agents, &at));)
        free_agent(e->value);
    map_free(&h->tasks);
    map_free(&h->agents);
    map_free(&h->apps);
    map_free(&h->waiting);
    timers_free(&h->timers);
    free(h);
}

void hub_set_limits(struct hub *h, const struct hub_limits *limits)
{
    h->limits = *limits;
}

/* ---- agents */

static int64_t window_end_ms(const struct hub *h)
{
    return h->started_ms + HUB_GRACE_MS;
}

/* Items that end here stay in the agent's list until they are stored, so the agent is freed by a
 * later call.  Within the reconnect window after a start no agent is freed, because one we have not
 * heard of may still connect. */
static void on_offline(void *arg)
{
    struct agent *a = arg;
    struct hub *h = a->hub;
    bool is_here = h->effects->is_here && h->effects->is_here(h->arg, a->id);
    struct item *item, *next;

    if (!is_here && TAILQ_EMPTY(&a->open) && h->now_ms >= window_end_ms(h)) {
        map_del_str(&h->agents, a->id);
        free_agent(a);
        return;
    }
    timers_set(&h->timers, &a->offline, h->now_ms + HUB_OFFLINE_MS);
    if (is_here)
        return; /* the store may be slow to open the session */
    a->is_offline = true;
    for (item = TAILQ_FIRST(&a->open); item; item = next) {
        next = TAILQ_NEXT(item, link);
        if (item_is_open(item) && item->state == ITEM_QUEUED)
            item_end_by_us(item, CODE_OFFLINE, MSG("the agent is not connected"));
    }
}

/* An agent that we have not heard of since the start may still connect. */
static struct agent *agent_of(struct hub *h, const char *id)
{
    struct agent *a = map_find_str(&h->agents, id);

    if (a)
        return a;
    a = xalloc(sizeof(*a));
    a->hub = h;
    a->id = xstrdup(id);
    TAILQ_INIT(&a->open);
    TAILQ_INIT(&a->sched_queues);
    timer_init(&a->offline, on_offline, a);
    timer_init(&a->silence, sched_on_silence, a);
    timer_init(&a->full, sched_on_room, a);
    a->is_offline = h->now_ms >= window_end_ms(h);
    timers_set(&h->timers, &a->offline,
               a->is_offline ? h->now_ms + HUB_OFFLINE_MS : window_end_ms(h));
    map_put_str(&h->agents, a->id, a);
    return a;
}

void hub_on_arrival(struct hub *h, const char *id, int64_t now_ms)
{
    struct agent *a;
    int64_t until_ms = now_ms + HUB_OFFLINE_MS;

    h->now_ms = now_ms;
    a = agent_of(h, id);
    if (a->epoch)
        return;
    a->is_offline = false;
    if (a->offline.due_ms < until_ms)
        timers_set(&h->timers, &a->offline, until_ms);
}

void hub_on_session(struct hub *h, const char *id, int64_t epoch, int64_t now_ms)
{
    struct agent *a;
    struct item *item;

    h->now_ms = now_ms;
    a = agent_of(h, id);
    if (epoch <= a->epoch)
        return;
    a->epoch = epoch;
    a->is_offline = false;
    timers_stop(&h->timers, &a->offline);
    sched_reset(a);
    TAILQ_FOREACH(item, &a->open, link) {
        if (item_is_open(item))
            sched_add(item); /* acknowledged ones too: the result may be lost */
        else if (item->state == ITEM_STORING)
            sched_end(item);
    }
    sched_take(h, false);
}

void hub_on_session_end(struct hub *h, const char *id, int64_t epoch, int64_t now_ms)
{
    struct agent *a = map_find_str(&h->agents, id);

    h->now_ms = now_ms;
    if (!a || a->epoch != epoch)
        return;
    a->epoch = 0;
    sched_reset(a);
    timers_set(&h->timers, &a->offline, now_ms + HUB_OFFLINE_MS);
}

/* ---- tasks */

/* Finds an equal item of the task: the operation is run once for both. */
static void find_twin(struct item *item, struct map *firsts, struct buf *key, struct arena *a)
{
    const struct hub_item *pub = item->pub;
    struct item *first;

    if (!item->agent)
        return;
    buf_truncate(key, 0);
    buf_add(key, &pub->op, sizeof(pub->op));
    buf_add(key, &pub->spec, sizeof(pub->spec));
    buf_add(key, pub->agent, hub_item_key_len(pub));
    first = map_find(firsts, buf_data(key), key->len);
    if (!first) {
        map_put(firsts, arena_memdup(a, buf_data(key), key->len), key->len, item);
        return;
    }
    item->is_twin = true;
    item->twins = first->twins;
    first->twins = item;
}

static struct item *add_item(struct task *t, size_t n)
{
    struct item *item = &t->items[n];

    item->task = t;
    item->n = (int64_t)n;
    item->pub = &t->shown[n];
    item->agent = item->pub->agent ? agent_of(t->hub, item->pub->agent) : NULL;
    item_init(item);
    t->open += item->state != ITEM_ENDED;
    return item;
}

static struct task *add_task(struct hub *h, const struct hub_task *from, bool is_loaded)
{
    struct task *t = xalloc(sizeof(*t));
    const struct hub_item *items = from->items.items;
    struct map specs = { 0 }, firsts = { 0 };
    struct arena keys = { 0 };
    struct buf key = { 0 };

    t->hub = h;
    t->id = xstrdup(from->id);
    t->n = from->items.n;
    t->is_cancelled = from->is_cancelled;
    t->is_native = from->is_native;
    t->is_idempotent = from->is_idempotent;
    t->may_host = from->may_host;
    sched_app(t, from->app ? from->app : "");
    t->items = arena_alloc(&t->arena, t->n * sizeof(*t->items));
    t->shown = arena_alloc(&t->arena, t->n * sizeof(*t->shown));
    for (size_t i = 0; i < t->n; i++) {
        struct item *item;

        hub_item_copy(&t->shown[i], &items[i], &specs, &t->arena);
        item = add_item(t, i);
        if (is_loaded || item->state != ITEM_ENDED)
            find_twin(item, &firsts, &key, &keys);
        if (item_is_listed(item))
            TAILQ_INSERT_TAIL(&item->agent->open, item, link);
    }
    map_put_str(&h->tasks, t->id, t);
    map_free(&specs);
    map_free(&firsts);
    arena_free(&keys);
    buf_free(&key);
    return t;
}

static void dispatch_all(struct task *t)
{
    t->is_stored = true;
    for (size_t i = 0; i < t->n; i++)
        item_dispatch(&t->items[i]);
    sched_take(t->hub, false);
}

/* After a restart some of several equal items may have ended, and others not: the stored result
 * counts for all. */
static void end_as_before(struct item *first)
{
    const struct item *ended = first;
    struct message_result r;

    while (ended && ended->state != ITEM_ENDED)
        ended = ended->twins;
    if (first->is_twin || !ended)
        return;
    r = (struct message_result){ .task = first->task->id,
                                 .code = ended->pub->code,
                                 .text = ended->pub->text,
                                 .view = ended->pub->view };
    if (first->state != ITEM_ENDED) {
        item_end(first, &r);
        return;
    }
    first->result = r;
    item_end_twins(first);
}

void hub_load(struct hub *h, const struct hub_task *task, int64_t now_ms)
{
    struct task *t;

    h->now_ms = now_ms;
    t = add_task(h, task, true);
    for (size_t i = 0; i < t->n; i++)
        end_as_before(&t->items[i]);
    dispatch_all(t);
}

/* Ends items of offline agents before the task is stored, so the first query shows it. */
static void end_offline(struct task *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct item *item = &t->items[i];
        const char *why = item->state == ITEM_QUEUED ? item_why_offline(item) : NULL;

        if (why)
            item_end_unstored(item, CODE_OFFLINE, why);
    }
}

void hub_operate(struct hub *h, const struct hub_task *task, int64_t now_ms)
{
    struct task *t;

    h->now_ms = now_ms;
    t = add_task(h, task, false);
    end_offline(t);
    h->effects->store_task(h->arg,
                           &(struct hub_task){ t->id, { t->shown, t->n }, false, task->app });
}

void hub_cancel(struct hub *h, const char *id, int64_t now_ms)
{
    struct task *t = map_find_str(&h->tasks, id);

    h->now_ms = now_ms;
    if (!t || !t->is_stored || t->is_cancelled)
        return;
    t->is_cancelled = true;
    for (size_t i = 0; i < t->n; i++)
        item_cancel(&t->items[i]);
}

void hub_on_task_stored(struct hub *h, const char *id, const struct err *failure, int64_t now_ms)
{
    struct task *t = map_find_str(&h->tasks, id);

    h->now_ms = now_ms;
    if (!t || t->is_stored)
        return;
    if (!failure) {
        dispatch_all(t);
        return;
    }
    map_del_str(&h->tasks, id);
    free_task(t);
}

static struct item *find_item(struct hub *h, const char *task, int64_t n)
{
    struct task *t = map_find_str(&h->tasks, task);

    return t && n >= 0 && (size_t)n < t->n ? &t->items[n] : NULL;
}

static void send_stored(struct hub *h, struct agent *a, const char *task, int64_t item)
{
    const struct message_ref ref = { task, item };

    if (a && a->epoch)
        h->effects->send(h->arg, a->id, a->epoch, MESSAGE_STORED, &message_ref_shape, &ref);
}

void hub_on_result_stored(struct hub *h, const char *task, int64_t n,
                          const struct message_result *other, int64_t now_ms)
{
    struct item *item = find_item(h, task, n);

    h->now_ms = now_ms;
    if (!item || item->state != ITEM_STORING)
        return;
    item_end_stored(item, other);
    if (!item->is_twin)
        send_stored(h, item->agent, task, n);
}

/* ---- messages of agents */

/* A result for an item that has ended, or is unknown, is acknowledged so that the agent drops it.
 * A twin was never sent to an agent. */
static void on_result(struct hub *h, struct agent *a, const struct message_result *m)
{
    struct item *item = find_item(h, m->task, m->item);

    if (!item || item->state == ITEM_ENDED)
        send_stored(h, a, m->task, m->item);
    else if (item->agent != a || item->is_twin || !item_is_open(item))
        return;
    else if (m->code == CODE_WAITING) /* otherwise the item would never be shown as ended */
        item_end_by_us(item, CODE_SYSTEM, MSG("the agent gave 115 as its result, which is none"));
    else
        item_end(item, m);
}

static void on_taken(struct hub *h, struct agent *a, const struct message_ref *m)
{
    struct item *item = find_item(h, m->task, m->item);

    if (!item || item->agent != a || item->state != ITEM_SENT)
        return;
    sched_answer(item);
    item->state = ITEM_TAKEN;
    timers_stop(&h->timers, &item->resend);
}

void hub_on_message(struct hub *h, const char *agent, int64_t epoch, unsigned type,
                    const void *message, int64_t now_ms)
{
    struct agent *a = map_find_str(&h->agents, agent);

    h->now_ms = now_ms;
    if (!a || a->epoch != epoch)
        return; /* of a session that has ended */
    sched_heard(a);
    if (type == MESSAGE_RESULT)
        on_result(h, a, message);
    else if (type == MESSAGE_TAKEN)
        on_taken(h, a, message);
}

void hub_on_time(struct hub *h, int64_t now_ms)
{
    uint64_t seq = h->timers.next_seq;
    struct timer *t;

    h->now_ms = now_ms;
    for (int i = 0; i < RINGS && (t = timers_take(&h->timers, now_ms, seq)); i++)
        t->fn(t->arg);
    sched_take(h, true);
}

int64_t hub_next_ms(const struct hub *h)
{
    return sched_wait(h) ? h->now_ms : timers_next_ms(&h->timers);
}

const struct hub_item *hub_find(const struct hub *h, const char *task, size_t *ret_n)
{
    const struct task *t = map_find_str(&h->tasks, task);

    if (!t || !t->is_stored)
        return NULL;
    *ret_n = t->n;
    return t->shown;
}

bool hub_knows(const struct hub *h, const char *agent)
{
    return map_find_str(&h->agents, agent) != NULL;
}

void hub_forget(struct hub *h, const char *task)
{
    struct task *t = map_find_str(&h->tasks, task);

    if (!t || t->open)
        return;
    map_del_str(&h->tasks, task);
    free_task(t);
}
