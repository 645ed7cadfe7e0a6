/* SPDX-License-Identifier: MIT */
/* event_batches.c - see event_batches.h. */
#include "server/events/event_batches.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem/mem.h"

enum { BATCH_ROWS = 1000, AGAIN_MS = 1000, AGAIN_MAX_MS = 10 * 1000 };

/* The end of the year 9999: a later time from an agent has no date and could overflow. */
static const int64_t wall_max_ms = INT64_C(253402300799999);

/* Its texts are in the arena of its call. */
struct batch {
    TAILQ_ENTRY(batch) link;
    struct store_call *call;
    struct event_put_ask ask;
    struct event_row *rows;
    struct lost_row *lost, *back;
    size_t n, cap, n_lost, n_back, bytes;
};

TAILQ_HEAD(batch_list, batch);

struct event_batches {
    struct loop *loop;
    struct store *store;
    const struct event_batches_owner *owner;
    void *arg;
    struct batch_list all;
    size_t bytes, waiting;
    bool is_storing;
    int64_t again_ms;
    struct timer again;
};

static void event_batches_submit(struct event_batches *b);

/* ---- from the store ---- */

static void batch_free(struct batch *one)
{
    store_call_free(one->call);
    free(one->rows);
    free(one->lost);
    free(one->back);
    free(one);
}

static void finish(struct event_batches *b, struct batch *one)
{
    const struct event_put_got *got = one->call->out;

    for (size_t i = 0; i < one->n; i++)
        one->rows[i].seq = got->first + (int64_t)i;
    TAILQ_REMOVE(&b->all, one, link);
    b->bytes -= one->bytes;
    b->waiting -= one->n;
    b->again_ms = AGAIN_MS;
    b->owner->on_stored(b->arg, one->rows, one->n);
    batch_free(one);
}

static void try_again(struct event_batches *b, const struct err *why)
{
    timer_set(b->loop, &b->again, b->again_ms);
    b->again_ms = 2 * b->again_ms < AGAIN_MAX_MS ? 2 * b->again_ms : AGAIN_MAX_MS;
    b->owner->on_failed(b->arg, why);
}

/* A failed call is submitted again: the batch it was made from is still there. */
static void event_batches_on_stored(void *arg, struct store_call *c)
{
    struct event_batches *b = arg;

    b->is_storing = false;
    if (c->failed)
        try_again(b, &c->err);
    else
        finish(b, TAILQ_FIRST(&b->all));
    event_batches_submit(b);
}

/* ---- to the store ---- */

/* Submits the first batch, unless it is at the store already or waits for a retry. */
static void event_batches_submit(struct event_batches *b)
{
    struct batch *one = TAILQ_FIRST(&b->all);
    struct err err;

    if (!one || b->is_storing || b->again.place)
        return;
    one->ask = (struct event_put_ask){ { one->rows, one->n },
                                       { one->lost, one->n_lost },
                                       { one->back, one->n_back } };
    one->call->in = &one->ask;
    b->is_storing = true;
    if (store_submit(b->store, one->call, &err)) {
        b->is_storing = false;
        try_again(b, &err);
    }
}

static void event_batches_on_again(void *arg)
{
    event_batches_submit(arg);
}

/* ---- waiting batches ---- */

/* A batch that is not at the store and has room. */
static struct batch *open_batch(struct event_batches *b)
{
    struct batch *one = TAILQ_LAST(&b->all, batch_list);

    if (one && one->n < BATCH_ROWS && (one != TAILQ_FIRST(&b->all) || !b->is_storing))
        return one;
    one = xalloc(sizeof(*one));
    one->call = store_call_new(&store_event_put, event_batches_on_stored, b);
    TAILQ_INSERT_TAIL(&b->all, one, link);
    return one;
}

static const char *event_batches_keep(struct batch *one, const char *text)
{
    one->bytes += strlen(text) + 1;
    return arena_strdup(&one->call->arena, text);
}

static struct event_row *new_row(struct batch *one)
{
    if (one->n == one->cap) {
        one->cap = one->cap ? 2 * one->cap : 4;
        one->rows = xresize(one->rows, one->cap * sizeof(*one->rows));
    }
    one->bytes += sizeof(*one->rows);
    one->rows[one->n] = (struct event_row){ .seq = (int64_t)one->n };
    return &one->rows[one->n++];
}

/* The store applies `back` rows after `lost` rows.  An agent that is lost again must therefore
 * not be in the batch as back. */
static void take_back(struct batch *one, const char *agent_id)
{
    for (size_t i = 0; i < one->n_back; i++) {
        if (!strcmp(one->back[i].agent_id, agent_id))
            one->back[i--] = one->back[--one->n_back];
    }
}

static void put_presence(struct batch *one, const struct fleet_host *h, enum event_presence says)
{
    struct lost_row **rows = says == EVENT_SAYS_LOST ? &one->lost : &one->back;
    size_t *n = says == EVENT_SAYS_LOST ? &one->n_lost : &one->n_back;

    if (says == EVENT_SAYS_NOTHING)
        return;
    if (says == EVENT_SAYS_LOST)
        take_back(one, h->agent_id);
    *rows = xresize(*rows, (*n + 1) * sizeof(**rows));
    (*rows)[(*n)++] = (struct lost_row){ event_batches_keep(one, h->agent_id), h->since_ms };
}

void event_batches_put(struct event_batches *b, const struct fleet_host *h,
                       const struct message_event *m, enum event_presence says)
{
    struct batch *one = open_batch(b);
    size_t before = one->bytes;
    struct event_row *row = new_row(one);

    row->taken_ms = clock_wall_ms(loop_clock(b->loop));
    row->wall_ms = m->wall_ms > 0 && m->wall_ms <= wall_max_ms ? m->wall_ms : row->taken_ms;
    row->agent_event = m->after < 0 ? 0 : m->id;
    row->agent_id = event_batches_keep(one, h ? h->agent_id : "");
    row->ip = event_batches_keep(one, h ? h->ip : "");
    row->cloud_id = h ? h->cloud_id : 0;
    row->biz_id = h ? h->biz_id : 0;
    row->name = event_batches_keep(one, m->name);
    row->message = event_batches_keep(one, m->text);
    row->space = event_batches_keep(one, m->space);
    row->proc = event_batches_keep(one, m->proc);
    row->proc_name = event_batches_keep(one, m->proc_name);
    row->report_id = m->report_id;
    put_presence(one, h, says);
    b->bytes += one->bytes - before;
    b->waiting++;
    event_batches_submit(b);
}

/* ---- public ---- */

struct event_batches *event_batches_new(struct loop *loop, struct store *store,
                                        const struct event_batches_owner *owner, void *arg)
{
    struct event_batches *b = xalloc(sizeof(*b));

    *b = (struct event_batches){ .loop = loop, .store = store, .owner = owner, .arg = arg };
    b->again_ms = AGAIN_MS;
    TAILQ_INIT(&b->all);
    timer_init(&b->again, event_batches_on_again, b);
    return b;
}

void event_batches_free(struct event_batches *b)
{
    struct batch *one;

    if (!b)
        return;
    timer_stop(b->loop, &b->again);
    while ((one = TAILQ_FIRST(&b->all))) {
        TAILQ_REMOVE(&b->all, one, link);
        batch_free(one);
    }
    free(b);
}

bool event_batches_is_full(const struct event_batches *b, bool is_own)
{
    return b->bytes >= (is_own ? BATCHES_OWN_BYTES_MAX : BATCHES_BYTES_MAX);
}

bool event_batches_is_empty(const struct event_batches *b)
{
    return TAILQ_EMPTY(&b->all);
}

size_t event_batches_waiting(const struct event_batches *b)
{
    return b->waiting;
}

bool event_batches_is_storing(const struct event_batches *b)
{
    return b->is_storing;
}
