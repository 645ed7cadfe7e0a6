/* SPDX-License-Identifier: MIT */
/* hub_sched.c - see hub_sched.h. */
#include "server/dispatch/hub_sched.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "server/dispatch/hub_copy.h"

/* The items of one turn go to the agent in one write, so a turn is several items. */
enum { SLICE = 256, TURN = 32, SILENT_MS = 1000 };

/* The items of one task that wait for one agent. */
struct sched_queue {
    struct task *task;
    struct agent *agent;
    TAILQ_HEAD(, item) items;
    bool is_ready;
    TAILQ_ENTRY(sched_queue) ready;    /* in task.ready, if is_ready */
    TAILQ_ENTRY(sched_queue) of_agent; /* in agent.sched_queues; least recently served first */
};

/* An application; apps take turns. */
struct app {
    char *id;
    size_t tasks, unanswered;
    TAILQ_HEAD(, task) ready; /* tasks with ready queues */
    TAILQ_ENTRY(app) link;    /* in hub.ready, while `ready` is not empty */
};

/* How many of the items that an agent was sent belong to an app. */
struct share {
    struct app *app;
    size_t n;
    struct share *next;
};

void sched_init(struct hub *h)
{
    TAILQ_INIT(&h->ready);
    h->limits = (struct hub_limits){ HUB_PER_AGENT, HUB_TOTAL };
}

void sched_app(struct task *t, const char *id)
{
    struct app *app = map_find_str(&t->hub->apps, id);

    if (!app) {
        app = xalloc(sizeof(*app));
        app->id = xstrdup(id);
        TAILQ_INIT(&app->ready);
        map_put_str(&t->hub->apps, app->id, app);
    }
    app->tasks++;
    t->app = app;
    t->seq = ++t->hub->last_seq;
    TAILQ_INIT(&t->ready);
}

void sched_app_done(struct task *t)
{
    struct app *app = t->app;

    if (--app->tasks)
        return;
    map_del_str(&t->hub->apps, app->id);
    free(app->id);
    free(app);
}

/* ---- ready queues */

static void put_ready(struct sched_queue *sched_queue)
{
    struct task *t = sched_queue->task;

    if (sched_queue->is_ready)
        return;
    sched_queue->is_ready = true;
    if (TAILQ_EMPTY(&t->ready)) {
        if (TAILQ_EMPTY(&t->app->ready))
            TAILQ_INSERT_TAIL(&t->hub->ready, t->app, link);
        TAILQ_INSERT_TAIL(&t->app->ready, t, ready_link);
    }
    TAILQ_INSERT_TAIL(&t->ready, sched_queue, ready);
}

static void del_ready(struct sched_queue *sched_queue)
{
    struct task *t = sched_queue->task;

    if (!sched_queue->is_ready)
        return;
    sched_queue->is_ready = false;
    TAILQ_REMOVE(&t->ready, sched_queue, ready);
    if (!TAILQ_EMPTY(&t->ready))
        return;
    TAILQ_REMOVE(&t->app->ready, t, ready_link);
    if (TAILQ_EMPTY(&t->app->ready))
        TAILQ_REMOVE(&t->hub->ready, t->app, link);
}

static struct share *find_share(const struct agent *a, const struct app *app)
{
    struct share *s = a->shares;

    while (s && s->app != app)
        s = s->next;
    return s;
}

static bool may_send(const struct sched_queue *sched_queue)
{
    const struct agent *a = sched_queue->agent;

    return a->epoch && !a->is_silent && !a->is_full &&
           (a->n_sent < a->hub->limits.per_agent || !find_share(a, sched_queue->task->app));
}

/* Makes as many queues ready as there is room for.  If is_app_free, also the queues of apps without
 * an item on the way. */
static void refill(struct agent *a, bool is_app_free)
{
    struct sched_queue *sched_queue;
    size_t room;

    if (!a->epoch || a->is_silent || a->is_full)
        return;
    room = a->n_sent < a->hub->limits.per_agent ? a->hub->limits.per_agent - a->n_sent : 0;
    TAILQ_FOREACH(sched_queue, &a->sched_queues, of_agent) {
        if (!room && !is_app_free)
            return; /* stops early: a thousand tasks may wait for one agent */
        if (room ? room-- : !find_share(a, sched_queue->task->app))
            put_ready(sched_queue);
    }
}

/* ---- waiting items */

/* Inserts behind the items that were accepted before it: at the end, unless its task was stored
 * after a later one. */
static void join_ring(struct item *item)
{
    const struct hub_item *pub = item->pub;
    struct map *waiting = &item->task->hub->waiting;
    struct item *first = map_find(waiting, pub->agent, hub_item_key_len(pub));
    struct item *last = first ? first->before : NULL;

    while (last && last->task->seq > item->task->seq)
        last = last == first ? NULL : last->before;
    if (!last)
        map_put(waiting, pub->agent, hub_item_key_len(pub), item);
    if (!first) {
        item->before = item->behind = item;
        return;
    }
    item->before = last ? last : first->before;
    item->behind = last ? last->behind : first;
    item->before->behind = item->behind->before = item;
}

static struct item *first_of_process(const struct item *item)
{
    const struct hub_item *pub = item->pub;

    return map_find(&item->task->hub->waiting, pub->agent, hub_item_key_len(pub));
}

static void leave_ring(struct item *item)
{
    struct map *waiting = &item->task->hub->waiting;
    const struct hub_item *pub = item->pub, *next = item->behind->pub;

    if (next == pub)
        map_del(waiting, pub->agent, hub_item_key_len(pub));
    else if (first_of_process(item) == item)
        map_put(waiting, next->agent, hub_item_key_len(next), item->behind);
    item->before->behind = item->behind;
    item->behind->before = item->before;
}

/* A task adds its items for one agent consecutively, so its queue is the last one or does not
 * exist. */
static struct sched_queue *sched_queue_of(struct item *item)
{
    struct sched_queue *sched_queue = TAILQ_LAST(&item->agent->sched_queues, sched_queues);

    if (sched_queue && sched_queue->task == item->task)
        return sched_queue;
    sched_queue = xalloc(sizeof(*sched_queue));
    sched_queue->task = item->task;
    sched_queue->agent = item->agent;
    TAILQ_INIT(&sched_queue->items);
    TAILQ_INSERT_TAIL(&item->agent->sched_queues, sched_queue, of_agent);
    return sched_queue;
}

void sched_add(struct item *item)
{
    struct sched_queue *sched_queue = sched_queue_of(item);

    item->sched_queue = sched_queue;
    TAILQ_INSERT_TAIL(&sched_queue->items, item, in_queue);
    join_ring(item);
    if (may_send(sched_queue))
        put_ready(sched_queue);
}

static void leave_sched_queue(struct item *item)
{
    struct sched_queue *sched_queue = item->sched_queue;

    if (!sched_queue)
        return;
    item->sched_queue = NULL;
    leave_ring(item);
    TAILQ_REMOVE(&sched_queue->items, item, in_queue);
    if (!TAILQ_EMPTY(&sched_queue->items))
        return;
    del_ready(sched_queue);
    TAILQ_REMOVE(&sched_queue->agent->sched_queues, sched_queue, of_agent);
    free(sched_queue);
}

/* ---- items on the way */

static void uncount_unanswered(struct item *item)
{
    if (!item->is_unanswered)
        return;
    item->is_unanswered = false;
    item->agent->unanswered--;
    item->task->app->unanswered--;
    item->task->hub->unanswered--;
}

static void put_share(struct agent *a, struct app *app)
{
    struct share *s = find_share(a, app);

    if (!s) {
        s = xalloc(sizeof(*s));
        s->app = app;
        s->next = a->shares;
        a->shares = s;
    }
    s->n++;
}

static void del_share(struct agent *a, const struct app *app)
{
    struct share **at = &a->shares, *s;

    while ((*at)->app != app)
        at = &(*at)->next;
    s = *at;
    if (--s->n)
        return;
    *at = s->next;
    free(s);
}

static void sched_done(struct item *item)
{
    uncount_unanswered(item);
    if (!item->is_sent)
        return;
    item->is_sent = false;
    del_share(item->agent, item->task->app);
    if (--item->agent->n_sent == 0)
        item->agent->is_silent = false; /* it has nothing to answer */
}

static void count_unanswered(struct item *item)
{
    struct agent *a = item->agent;
    struct hub *h = a->hub;

    item->is_unanswered = true;
    item->task->app->unanswered++;
    h->unanswered++;
    if (a->unanswered++)
        return;
    a->heard_ms = h->now_ms;
    if (!a->silence.place)
        timers_set(&h->timers, &a->silence, h->now_ms + SILENT_MS);
}

/* Counts it as sent: it is in the agent's journal, or will be. */
static void count_sent(struct item *item)
{
    item->is_sent = true;
    item->agent->n_sent++;
    put_share(item->agent, item->task->app);
}

/* If the agent is full, the item stays in its queue, and so do those behind it. */
static void send_now(struct item *item)
{
    struct agent *a = item->agent;

    if (!item_send(item)) {
        a->is_full = true;
        timers_set(&a->hub->timers, &a->full, a->hub->now_ms + HELD_MS);
        return;
    }
    leave_sched_queue(item);
    count_sent(item);
    if (item->state != ITEM_TAKEN) /* acknowledged before: no second acknowledgement comes */
        count_unanswered(item);
}

void sched_drop(struct item *item)
{
    if (!item->sched_queue && !item->is_sent)
        return;
    leave_sched_queue(item);
    sched_done(item);
    refill(item->agent, !find_share(item->agent, item->task->app));
}

void sched_answer(struct item *item)
{
    uncount_unanswered(item);
}

void sched_end(struct item *item)
{
    if (item->state == ITEM_QUEUED) {
        sched_drop(item);
        return;
    }
    uncount_unanswered(item);
    leave_sched_queue(item);
    if (!item->is_sent && item->agent && item->agent->epoch)
        count_sent(item);
}

void sched_heard(struct agent *a)
{
    a->heard_ms = a->hub->now_ms;
    if (!a->is_silent)
        return;
    a->is_silent = false;
    refill(a, true);
}

void sched_on_silence(void *arg)
{
    struct agent *a = arg;
    struct item *item;

    if (!a->unanswered)
        return;
    if (a->heard_ms + SILENT_MS > a->hub->now_ms) {
        timers_set(&a->hub->timers, &a->silence, a->heard_ms + SILENT_MS);
        return;
    }
    a->is_silent = true;
    TAILQ_FOREACH(item, &a->open, link)
        uncount_unanswered(item);
}

void sched_on_room(void *arg)
{
    struct agent *a = arg;

    a->is_full = false;
    refill(a, true);
}

void sched_reset(struct agent *a)
{
    struct item *item;

    TAILQ_FOREACH(item, &a->open, link) {
        leave_sched_queue(item);
        sched_done(item);
    }
    a->is_silent = a->is_full = false;
    timers_stop(&a->hub->timers, &a->silence);
    timers_stop(&a->hub->timers, &a->full);
}

/* ---- turns */

static bool hub_sched_has_room(const struct hub *h, const struct app *app)
{
    return h->unanswered < h->limits.total || !app->unanswered;
}

static struct app *next_app(const struct hub *h)
{
    struct app *app;

    TAILQ_FOREACH(app, &h->ready, link) {
        if (hub_sched_has_room(h, app))
            break;
    }
    return app;
}

bool sched_wait(const struct hub *h)
{
    return next_app(h) != NULL;
}

/* App, task and queue move to the end of their lists. */
static struct sched_queue *next_sched_queue(struct hub *h, struct app *app)
{
    struct task *t = TAILQ_FIRST(&app->ready);
    struct sched_queue *sched_queue = TAILQ_FIRST(&t->ready);

    TAILQ_REMOVE(&h->ready, app, link);
    TAILQ_INSERT_TAIL(&h->ready, app, link);
    TAILQ_REMOVE(&app->ready, t, ready_link);
    TAILQ_INSERT_TAIL(&app->ready, t, ready_link);
    TAILQ_REMOVE(&t->ready, sched_queue, ready);
    TAILQ_INSERT_TAIL(&t->ready, sched_queue, ready);
    TAILQ_REMOVE(&sched_queue->agent->sched_queues, sched_queue, of_agent);
    TAILQ_INSERT_TAIL(&sched_queue->agent->sched_queues, sched_queue, of_agent);
    return sched_queue;
}

/* Sending its last item frees the queue. */
static void hub_sched_take_turn(struct hub *h, struct app *app)
{
    struct sched_queue *sched_queue = next_sched_queue(h, app);
    bool has_more = true;

    for (int i = 0; has_more && i < TURN && h->slice && hub_sched_has_room(h, app); i++) {
        struct item *item;

        if (!may_send(sched_queue)) {
            del_ready(sched_queue); /* until its agent has room */
            return;
        }
        item = first_of_process(TAILQ_FIRST(&sched_queue->items));
        has_more = item->sched_queue != sched_queue || TAILQ_NEXT(item, in_queue);
        h->slice--;
        send_now(item);
    }
}

static void begin_slice(struct hub *h, bool is_next_turn)
{
    if (is_next_turn || h->slice_ms != h->now_ms)
        h->slice = SLICE;
    h->slice_ms = h->now_ms;
}

bool sched_spare(struct hub *h)
{
    begin_slice(h, false);
    return h->slice && h->slice--;
}

void sched_take(struct hub *h, bool is_next_turn)
{
    struct app *app;

    begin_slice(h, is_next_turn);
    while (h->slice && (app = next_app(h)))
        hub_sched_take_turn(h, app);
}
