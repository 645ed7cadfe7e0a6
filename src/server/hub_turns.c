/* SPDX-License-Identifier: MIT */
/* hub_turns.c - see hub_turns.h. */
#include "server/hub_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/hub_copy.h"

/* What goes to one agent at once is one write, so a turn is several items. */
enum { SLICE = 256, TURN = 32, SILENT_MS = 1000 };

/* What of one task waits for one agent. */
struct lane {
    struct task *task;
    struct agent *agent;
    TAILQ_HEAD(, item) items;
    bool is_ready;
    TAILQ_ENTRY(lane) ready;    /* of the task's ready ones */
    TAILQ_ENTRY(lane) of_agent; /* those that were served last stand last */
};

/* Whose tasks take turns with others'. */
struct app {
    char *id;
    size_t tasks, unanswered;
    TAILQ_HEAD(, task) ready; /* those with ready lanes */
    TAILQ_ENTRY(app) link;    /* of those that have such tasks */
};

/* How much of what an agent was sent is an app's. */
struct share {
    struct app *app;
    size_t n;
    struct share *next;
};

void turns_init(struct hub *h)
{
    TAILQ_INIT(&h->ready);
    h->limits = (struct hub_limits){ HUB_PER_AGENT, HUB_TOTAL };
}

void turns_app(struct task *t, const char *id)
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

void turns_app_done(struct task *t)
{
    struct app *app = t->app;

    if (--app->tasks)
        return;
    map_del_str(&t->hub->apps, app->id);
    free(app->id);
    free(app);
}

/* ---- what is ready */

static void put_ready(struct lane *lane)
{
    struct task *t = lane->task;

    if (lane->is_ready)
        return;
    lane->is_ready = true;
    if (TAILQ_EMPTY(&t->ready)) {
        if (TAILQ_EMPTY(&t->app->ready))
            TAILQ_INSERT_TAIL(&t->hub->ready, t->app, link);
        TAILQ_INSERT_TAIL(&t->app->ready, t, ready_link);
    }
    TAILQ_INSERT_TAIL(&t->ready, lane, ready);
}

static void del_ready(struct lane *lane)
{
    struct task *t = lane->task;

    if (!lane->is_ready)
        return;
    lane->is_ready = false;
    TAILQ_REMOVE(&t->ready, lane, ready);
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

static bool may_send(const struct lane *lane)
{
    const struct agent *a = lane->agent;

    return a->epoch && !a->is_silent && !a->is_full &&
           (a->n_sent < a->hub->limits.per_agent || !find_share(a, lane->task->app));
}

/* As many lanes as there is room for; the one of an app that has nothing on the way in any
 * case, if there is such an app. */
static void refill(struct agent *a, bool is_app_free)
{
    struct lane *lane;
    size_t room;

    if (!a->epoch || a->is_silent || a->is_full)
        return;
    room = a->n_sent < a->hub->limits.per_agent ? a->hub->limits.per_agent - a->n_sent : 0;
    TAILQ_FOREACH(lane, &a->lanes, of_agent)
    {
        if (!room && !is_app_free)
            return; /* a thousand tasks may wait for one agent */
        if (room ? room-- : !find_share(a, lane->task->app))
            put_ready(lane);
    }
}

/* ---- what waits */

/* Each comes behind those that were accepted before it: last, unless its task was stored after a
 * later one. */
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

/* A task's items for one agent come one after the other, so its lane is the last or none. */
static struct lane *lane_of(struct item *item)
{
    struct lane *lane = TAILQ_LAST(&item->agent->lanes, lanes);

    if (lane && lane->task == item->task)
        return lane;
    lane = xalloc(sizeof(*lane));
    lane->task = item->task;
    lane->agent = item->agent;
    TAILQ_INIT(&lane->items);
    TAILQ_INSERT_TAIL(&item->agent->lanes, lane, of_agent);
    return lane;
}

void turns_add(struct item *item)
{
    struct lane *lane = lane_of(item);

    item->lane = lane;
    TAILQ_INSERT_TAIL(&lane->items, item, in_lane);
    join_ring(item);
    if (may_send(lane))
        put_ready(lane);
}

static void leave_lane(struct item *item)
{
    struct lane *lane = item->lane;

    if (!lane)
        return;
    item->lane = NULL;
    leave_ring(item);
    TAILQ_REMOVE(&lane->items, item, in_lane);
    if (!TAILQ_EMPTY(&lane->items))
        return;
    del_ready(lane);
    TAILQ_REMOVE(&lane->agent->lanes, lane, of_agent);
    free(lane);
}

/* ---- what is on the way */

static void uncount(struct item *item)
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

static void land(struct item *item)
{
    uncount(item);
    if (!item->is_sent)
        return;
    item->is_sent = false;
    del_share(item->agent, item->task->app);
    if (--item->agent->n_sent == 0)
        item->agent->is_silent = false; /* it was asked for nothing */
}

static void count(struct item *item)
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

/* It is in the agent's books, or will be. */
static void keep(struct item *item)
{
    item->is_sent = true;
    item->agent->n_sent++;
    put_share(item->agent, item->task->app);
}

/* If it is held back it waits where it is, and so do those behind it. */
static void send_now(struct item *item)
{
    struct agent *a = item->agent;

    if (!item_send(item)) {
        a->is_full = true;
        timers_set(&a->hub->timers, &a->full, a->hub->now_ms + HELD_MS);
        return;
    }
    leave_lane(item);
    keep(item);
    if (item->state != ITEM_TAKEN) /* which it has said before, and need not again */
        count(item);
}

void turns_drop(struct item *item)
{
    if (!item->lane && !item->is_sent)
        return;
    leave_lane(item);
    land(item);
    refill(item->agent, !find_share(item->agent, item->task->app));
}

void turns_answer(struct item *item)
{
    uncount(item);
}

void turns_end(struct item *item)
{
    if (item->state == ITEM_QUEUED) {
        turns_drop(item);
        return;
    }
    uncount(item);
    leave_lane(item);
    if (!item->is_sent && item->agent && item->agent->epoch)
        keep(item);
}

void turns_heard(struct agent *a)
{
    a->heard_ms = a->hub->now_ms;
    if (!a->is_silent)
        return;
    a->is_silent = false;
    refill(a, true);
}

void turns_on_silence(void *arg)
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
    uncount(item);
}

void turns_on_room(void *arg)
{
    struct agent *a = arg;

    a->is_full = false;
    refill(a, true);
}

void turns_reset(struct agent *a)
{
    struct item *item;

    TAILQ_FOREACH(item, &a->open, link)
    {
        leave_lane(item);
        land(item);
    }
    a->is_silent = a->is_full = false;
    timers_stop(&a->hub->timers, &a->silence);
    timers_stop(&a->hub->timers, &a->full);
}

/* ---- turns */

static bool has_room(const struct hub *h, const struct app *app)
{
    return h->unanswered < h->limits.total || !app->unanswered;
}

static struct app *next_app(const struct hub *h)
{
    struct app *app;

    TAILQ_FOREACH(app, &h->ready, link)
    {
        if (has_room(h, app))
            break;
    }
    return app;
}

bool turns_wait(const struct hub *h)
{
    return next_app(h) != NULL;
}

/* Whoever had a turn is the last of his kind. */
static struct lane *next_lane(struct hub *h, struct app *app)
{
    struct task *t = TAILQ_FIRST(&app->ready);
    struct lane *lane = TAILQ_FIRST(&t->ready);

    TAILQ_REMOVE(&h->ready, app, link);
    TAILQ_INSERT_TAIL(&h->ready, app, link);
    TAILQ_REMOVE(&app->ready, t, ready_link);
    TAILQ_INSERT_TAIL(&app->ready, t, ready_link);
    TAILQ_REMOVE(&t->ready, lane, ready);
    TAILQ_INSERT_TAIL(&t->ready, lane, ready);
    TAILQ_REMOVE(&lane->agent->lanes, lane, of_agent);
    TAILQ_INSERT_TAIL(&lane->agent->lanes, lane, of_agent);
    return lane;
}

/* Its last item may be the lane's last. */
static void take_turn(struct hub *h, struct app *app)
{
    struct lane *lane = next_lane(h, app);
    bool has_more = true;

    for (int i = 0; has_more && i < TURN && h->slice && has_room(h, app); i++) {
        struct item *item;

        if (!may_send(lane)) {
            del_ready(lane); /* until there is room at its agent */
            return;
        }
        item = first_of_process(TAILQ_FIRST(&lane->items));
        has_more = item->lane != lane || TAILQ_NEXT(item, in_lane);
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

bool turns_spare(struct hub *h)
{
    begin_slice(h, false);
    return h->slice && h->slice--;
}

void turns_take(struct hub *h, bool is_next_turn)
{
    struct app *app;

    begin_slice(h, is_next_turn);
    while (h->slice && (app = next_app(h)))
        take_turn(h, app);
}
