/* SPDX-License-Identifier: MIT */
/* task_claims.c - claims of items for sessions.  When an agent gets a session, all its queued items
 * in the store are claimed for it; commands are sent after that commit.  Items that are created
 * meanwhile are stored as claimed, so there is no gap. */
#include <stdlib.h>

#include "server/dispatch/task_in.h"

enum { BATCH_MAX = 1024 };

struct batch {
    struct tasks *tasks;
    struct peer **peers;
    struct claim_row *rows;
    struct task_claim_ask ask;
};

void claims_put(struct tasks *t, struct peer *p)
{
    if (p->is_claiming)
        return;
    p->is_claiming = true;
    TAILQ_INSERT_TAIL(&t->claiming, p, link);
    outbox_soon(t, &t->claims);
}

static void note_claim(struct tasks *t, const struct task_item_row *row)
{
    struct active_task *active_task =
        map_find(&t->by_no, (const char *)&row->task_no, sizeof(row->task_no));

    if (active_task && row->n >= 0 && (size_t)row->n < active_task->n)
        active_task->items[row->n].claimed = row->epoch;
}

static void task_claims_put_back(struct batch *b)
{
    for (size_t i = b->ask.claims.n; i-- > 0;) {
        struct peer *p = b->peers[i];

        if (p->is_claiming || !p->epoch)
            continue;
        p->is_claiming = true;
        TAILQ_INSERT_HEAD(&b->tasks->claiming, p, link);
    }
}

static void take_claims(struct batch *b, const struct list *rows)
{
    struct tasks *t = b->tasks;
    const struct task_item_row *items = rows->items;

    for (size_t i = 0; i < rows->n; i++)
        note_claim(t, &items[i]);
    for (size_t i = 0; i < b->ask.claims.n; i++) {
        struct peer *p = b->peers[i];

        if (p->epoch == b->rows[i].epoch)
            hub_on_session(t->hub, p->id, p->epoch, loop_now_ms(t->loop));
    }
}

static void on_claimed(void *arg, struct store_call *c)
{
    struct batch *b = arg;
    struct tasks *t = b->tasks;

    t->claims.is_out = false;
    if (c->failed) {
        task_claims_put_back(b);
        outbox_failed(t, &t->claims, &c->err);
        store_call_free(c);
        return;
    }
    t->claims.wait_ms = 0;
    take_claims(b, c->out);
    store_call_free(c);
    if (!TAILQ_EMPTY(&t->claiming))
        outbox_soon(t, &t->claims);
    results_unpark(t);
    tasks_wake(t);
}

void claims_forget(struct tasks *t)
{
    struct map_entry *e;

    for (size_t at = 0; !t->claims.is_out && (e = map_next(&t->peers, &at));) {
        struct peer *p = e->value;

        if (p->epoch || p->is_claiming || hub_knows(t->hub, p->id))
            continue;
        map_del_str(&t->peers, p->id);
        free(p->id);
        free(p);
    }
}

static struct batch *take_batch(struct tasks *t, struct arena *a)
{
    struct batch *b = arena_alloc(a, sizeof(*b));
    struct peer *p;
    size_t n = 0;

    b->tasks = t;
    b->peers = arena_alloc(a, BATCH_MAX * sizeof(struct peer *));
    b->rows = arena_alloc(a, BATCH_MAX * sizeof(*b->rows));
    while (n < BATCH_MAX && (p = TAILQ_FIRST(&t->claiming))) {
        TAILQ_REMOVE(&t->claiming, p, link);
        p->is_claiming = false;
        if (!p->epoch)
            continue; /* its session has ended */
        b->peers[n] = p;
        b->rows[n++] = (struct claim_row){ arena_strdup(a, p->id), p->epoch };
    }
    b->ask.claims = (struct list){ b->rows, n };
    return b;
}

void claims_flush(void *arg)
{
    struct tasks *t = arg;
    struct store_call *c;
    struct batch *b;
    struct err err;

    if (t->claims.is_out || TAILQ_EMPTY(&t->claiming))
        return;
    c = store_call_new(&store_task_claim, on_claimed, NULL);
    b = take_batch(t, &c->arena);
    c->in = &b->ask;
    c->arg = b;
    t->claims.is_out = true;
    if (b->ask.claims.n && pending_calls_submit(t->pending_calls, c, &err) == 0)
        return;
    t->claims.is_out = false;
    if (b->ask.claims.n) {
        task_claims_put_back(b);
        outbox_failed(t, &t->claims, &err);
    }
    store_call_free(c);
}
