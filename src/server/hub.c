/* SPDX-License-Identifier: MIT */
/* hub.c - see hub.h. */
#include "server/hub.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/timers.h"
#include "server/hub_copy.h"

enum { RESEND_MS = 5000 };

enum item_state {
    ITEM_QUEUED,  /* for an agent that is not here, or not yet */
    ITEM_SENT,    /* and not yet in its journal */
    ITEM_TAKEN,   /* in its journal */
    ITEM_STORING, /* its result is on the way to the store */
    ITEM_ENDED,
};

struct agent;
struct task;

struct item {
    struct hub_item *pub; /* as it is shown */
    struct task *task;
    int64_t n;
    struct agent *agent; /* NULL: no such host */
    enum item_state state;
    bool is_twin;       /* another item of the task runs for this one: it is never sent, */
    struct item *twins; /* and ends with that one, whose twins begin here */
    struct message_result result; /* ITEM_STORING: what is being stored */
    struct timer resend, deadline;
    TAILQ_ENTRY(item) link; /* of the agent's open items */
};

struct task {
    struct hub *hub;
    struct arena arena;
    char *id;
    struct item *items;
    struct hub_item *shown; /* hub_find() gives these */
    size_t n, open;
    bool is_stored;
};

struct agent {
    struct hub *hub;
    char *id;
    int64_t epoch; /* of the session that is open; 0: none */
    struct timer away;
    bool is_away; /* for long enough */
    TAILQ_HEAD(, item) open;
};

struct hub {
    const struct hub_hands *hands;
    void *arg;
    int64_t now_ms, started_ms;
    struct timers timers;
    struct map tasks, agents;
};

struct hub *hub_new(const struct hub_hands *hands, void *arg, int64_t now_ms)
{
    struct hub *h = xalloc(sizeof(*h));

    h->hands = hands;
    h->arg = arg;
    h->now_ms = h->started_ms = now_ms;
    return h;
}

static bool is_listed(const struct item *item)
{
    return item->agent && !item->is_twin && item->state != ITEM_ENDED;
}

static void free_task(struct task *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct item *item = &t->items[i];

        timers_stop(&t->hub->timers, &item->resend);
        timers_stop(&t->hub->timers, &item->deadline);
        if (is_listed(item))
            TAILQ_REMOVE(&item->agent->open, item, link);
    }
    arena_free(&t->arena);
    free(t->id);
    free(t);
}

void hub_free(struct hub *h)
{
    struct map_entry *e;

    if (!h)
        return;
    for (size_t at = 0; (e = map_next(&h->tasks, &at));)
        free_task(e->value);
    for (size_t at = 0; (e = map_next(&h->agents, &at));) {
        struct agent *a = e->value;

        timers_stop(&h->timers, &a->away);
        free(a->id);
        free(a);
    }
    map_free(&h->tasks);
    map_free(&h->agents);
    timers_free(&h->timers);
    free(h);
}

/* ---- the end of an item */

static void keep_result(struct item *item, const struct message_result *result)
{
    struct arena *a = &item->task->arena;

    item->result = *result;
    item->result.task = item->task->id;
    item->result.item = item->n;
    item->result.text = arena_strdup(a, result->text);
    proc_view_keep(&item->result.view, a);
}

static void store_result(struct item *item)
{
    struct hub *h = item->task->hub;

    item->state = ITEM_STORING;
    h->hands->store_result(h->arg, item->task->id, item->n, &item->result);
}

/* From here on the result stands; it is shown when it is stored. */
static void end_item(struct item *item, const struct message_result *result)
{
    struct hub *h = item->task->hub;

    timers_stop(&h->timers, &item->resend);
    timers_stop(&h->timers, &item->deadline);
    keep_result(item, result);
    store_result(item);
    for (struct item *twin = item->twins; twin; twin = twin->twins) {
        if (twin->state == ITEM_ENDED)
            continue;
        twin->result = item->result;
        twin->result.item = twin->n;
        store_result(twin);
    }
}

static void fill_own(const struct item *item, int code, const char *text,
                     struct message_result *ret)
{
    *ret = (struct message_result){ .code = code, .text = text };
    shape_defaults(&proc_view_shape, &ret->view);
    ret->view.space = item->pub->meta.space;
    ret->view.name = item->pub->meta.name;
}

static void end_by_us(struct item *item, int code, const char *text)
{
    struct message_result r;

    fill_own(item, code, text, &r);
    end_item(item, &r);
}

static bool is_open(const struct item *item)
{
    return item->task->is_stored && item->state < ITEM_STORING;
}

static void on_deadline(void *arg)
{
    struct item *item = arg;

    if (is_open(item))
        end_by_us(item, CODE_DEADLINE, "the agent did not answer before the deadline");
}

/* ---- sending */

static void send_item(struct item *item)
{
    struct hub *h = item->task->hub;
    struct message_command m = { .task = item->task->id,
                                 .item = item->n,
                                 .op = item->pub->op,
                                 .deadline_ms = item->pub->deadline_ms,
                                 .meta = item->pub->meta,
                                 .spec = *item->pub->spec };

    if (item->state == ITEM_QUEUED)
        item->state = ITEM_SENT;
    h->hands->send(h->arg, item->agent->id, item->agent->epoch, MESSAGE_COMMAND,
                   &message_command_shape, &m);
    timers_set(&h->timers, &item->resend, h->now_ms + RESEND_MS);
}

static void on_resend(void *arg)
{
    struct item *item = arg;

    if (is_open(item) && item->state != ITEM_TAKEN && item->agent->epoch)
        send_item(item);
}

/* Why nobody can do it; NULL: somebody can, or will perhaps. */
static const char *why_offline(const struct item *item)
{
    if (!item->agent)
        return "no such host";
    return item->agent->epoch || !item->agent->is_away ? NULL : "the agent is not connected";
}

static void dispatch(struct item *item)
{
    const char *why;

    if (!is_open(item) || item->is_twin)
        return;
    why = why_offline(item);
    if (why)
        end_by_us(item, CODE_OFFLINE, why);
    else if (item->agent->epoch)
        send_item(item);
}

/* ---- agents */

static void on_away(void *arg)
{
    struct agent *a = arg;
    struct item *item, *next;

    a->is_away = true;
    for (item = TAILQ_FIRST(&a->open); item; item = next) {
        next = TAILQ_NEXT(item, link);
        if (is_open(item) && item->state == ITEM_QUEUED)
            end_by_us(item, CODE_OFFLINE, "the agent is not connected");
    }
}

/* One we have not heard of since the start may still be on its way. */
static struct agent *agent_of(struct hub *h, const char *id)
{
    struct agent *a = map_find_str(&h->agents, id);
    int64_t window_ms = h->started_ms + HUB_GRACE_MS - h->now_ms;

    if (a)
        return a;
    a = xalloc(sizeof(*a));
    a->hub = h;
    a->id = xstrdup(id);
    TAILQ_INIT(&a->open);
    timer_init(&a->away, on_away, a);
    a->is_away = window_ms <= 0;
    if (!a->is_away)
        timers_set(&h->timers, &a->away, h->now_ms + window_ms);
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
    a->is_away = false;
    if (!a->away.place || a->away.due_ms < until_ms)
        timers_set(&h->timers, &a->away, until_ms);
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
    a->is_away = false;
    timers_stop(&h->timers, &a->away);
    TAILQ_FOREACH(item, &a->open, link)
    {
        if (is_open(item))
            send_item(item); /* what was taken too: its result may have been lost with us */
    }
}

void hub_on_session_end(struct hub *h, const char *id, int64_t epoch, int64_t now_ms)
{
    struct agent *a = map_find_str(&h->agents, id);

    h->now_ms = now_ms;
    if (!a || a->epoch != epoch)
        return;
    a->epoch = 0;
    timers_set(&h->timers, &a->away, now_ms + HUB_OFFLINE_MS);
}

/* ---- tasks */

/* What is the same in two items is one thing to do. */
static void find_twin(struct item *item, struct map *firsts, struct buf *key, struct arena *a)
{
    const struct hub_item *pub = item->pub;
    const char *const texts[] = { pub->agent, pub->meta.space, pub->meta.name };
    struct item *first;

    if (!item->agent)
        return;
    buf_truncate(key, 0);
    buf_add(key, &pub->op, sizeof(pub->op));
    buf_add(key, &pub->spec, sizeof(pub->spec));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        buf_add(key, texts[i], strlen(texts[i]) + 1);
    first = map_find(firsts, buf_data(key), key->len);
    if (!first) {
        map_put(firsts, arena_memdup(a, buf_data(key), key->len), key->len, item);
        return;
    }
    item->is_twin = true;
    item->twins = first->twins;
    first->twins = item;
}

static void open_item(struct item *item)
{
    struct hub *h = item->task->hub;

    if (item->is_twin)
        return;
    if (item->agent)
        TAILQ_INSERT_TAIL(&item->agent->open, item, link);
    timers_set(&h->timers, &item->deadline, item->pub->deadline_ms);
}

static void init_item(struct task *t, size_t n)
{
    struct item *item = &t->items[n];

    item->task = t;
    item->n = (int64_t)n;
    item->pub = &t->shown[n];
    timer_init(&item->resend, on_resend, item);
    timer_init(&item->deadline, on_deadline, item);
    item->agent = item->pub->agent ? agent_of(t->hub, item->pub->agent) : NULL;
    if (item->pub->code == CODE_WAITING)
        return;
    item->state = ITEM_ENDED;
    t->open--;
}

/* One that had ended before a restart may have a twin that had not. */
static void end_with(struct item *first)
{
    struct message_result r = { .code = first->pub->code,
                                .text = first->pub->text,
                                .view = first->pub->view };

    for (struct item *twin = first->twins; twin; twin = twin->twins) {
        if (twin->state == ITEM_ENDED)
            continue;
        keep_result(twin, &r);
        store_result(twin);
    }
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
    t->n = t->open = from->items.n;
    t->items = arena_alloc(&t->arena, t->n * sizeof(*t->items));
    t->shown = arena_alloc(&t->arena, t->n * sizeof(*t->shown));
    for (size_t i = 0; i < t->n; i++) {
        hub_item_copy(&t->shown[i], &items[i], &specs, &t->arena);
        init_item(t, i);
        if (is_loaded || t->items[i].state != ITEM_ENDED)
            find_twin(&t->items[i], &firsts, &key, &keys);
        if (t->items[i].state != ITEM_ENDED)
            open_item(&t->items[i]);
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
        dispatch(&t->items[i]);
}

void hub_load(struct hub *h, const struct hub_task *task, int64_t now_ms)
{
    struct task *t;

    h->now_ms = now_ms;
    t = add_task(h, task, true);
    for (size_t i = 0; i < t->n; i++) {
        if (t->items[i].state == ITEM_ENDED && !t->items[i].is_twin)
            end_with(&t->items[i]);
    }
    dispatch_all(t);
}

static void show_result(struct item *item)
{
    if (is_listed(item))
        TAILQ_REMOVE(&item->agent->open, item, link);
    item->state = ITEM_ENDED;
    item->task->open--;
    item->pub->code = item->result.code;
    item->pub->text = item->result.text;
    item->pub->view = item->result.view;
}

/* What has no chance is stored as what it is: then the first who asks is told. */
static void end_offline(struct task *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct item *item = &t->items[i];
        const char *why = item->state == ITEM_QUEUED ? why_offline(item) : NULL;
        struct message_result r;

        if (!why)
            continue;
        fill_own(item, CODE_OFFLINE, why, &r);
        keep_result(item, &r);
        timers_stop(&t->hub->timers, &item->deadline);
        show_result(item);
    }
}

void hub_operate(struct hub *h, const struct hub_task *task, int64_t now_ms)
{
    struct task *t;

    h->now_ms = now_ms;
    t = add_task(h, task, false);
    end_offline(t);
    h->hands->store_task(h->arg, &(struct hub_task){ t->id, { t->shown, t->n } });
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

static void say_stored(struct hub *h, struct agent *a, const char *task, int64_t item)
{
    const struct message_ref ref = { task, item };

    if (a && a->epoch)
        h->hands->send(h->arg, a->id, a->epoch, MESSAGE_STORED, &message_ref_shape, &ref);
}

void hub_on_result_stored(struct hub *h, const char *task, int64_t n,
                          const struct message_result *other, int64_t now_ms)
{
    struct item *item = find_item(h, task, n);

    h->now_ms = now_ms;
    if (!item || item->state != ITEM_STORING)
        return;
    if (other)
        keep_result(item, other);
    show_result(item);
    if (!item->is_twin)
        say_stored(h, item->agent, task, n);
}

/* ---- what agents say */

/* A result of what has ended, or is not known any more, is not needed: saying so
 * lets the agent forget it. */
static void on_result(struct hub *h, struct agent *a, const struct message_result *m)
{
    struct item *item = find_item(h, m->task, m->item);

    if (!item || item->state == ITEM_ENDED)
        say_stored(h, a, m->task, m->item);
    else if (item->agent == a && is_open(item))
        end_item(item, m);
}

static void on_taken(struct hub *h, struct agent *a, const struct message_ref *m)
{
    struct item *item = find_item(h, m->task, m->item);

    if (!item || item->agent != a || item->state != ITEM_SENT)
        return;
    item->state = ITEM_TAKEN;
    timers_stop(&h->timers, &item->resend);
}

void hub_on_message(struct hub *h, const char *agent, int64_t epoch, unsigned type,
                    const void *message, int64_t now_ms)
{
    struct agent *a = map_find_str(&h->agents, agent);

    h->now_ms = now_ms;
    if (!a || a->epoch != epoch)
        return; /* of a session that is over */
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
    while ((t = timers_take(&h->timers, now_ms, seq)))
        t->fn(t->arg);
}

int64_t hub_next_ms(const struct hub *h)
{
    return timers_next_ms(&h->timers);
}

const struct hub_item *hub_find(const struct hub *h, const char *task, size_t *ret_n)
{
    const struct task *t = map_find_str(&h->tasks, task);

    if (!t || !t->is_stored)
        return NULL;
    *ret_n = t->n;
    return t->shown;
}

void hub_forget(struct hub *h, const char *task)
{
    struct task *t = map_find_str(&h->tasks, task);

    if (!t || t->open)
        return;
    map_del_str(&h->tasks, task);
    free_task(t);
}
