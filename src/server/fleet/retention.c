/* SPDX-License-Identifier: MIT */
/* retention.c - see retention.h. */
#include "server/fleet/retention.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "server/fleet/pending_calls.h"

enum {
    TICK_MS = 10 * 60 * 1000, /* each tick is a commit, so not too often */
    HOUR_MS = 3600 * 1000,
    WAIT_MS = 24 * HOUR_MS,
    TIDY_ROWS = 1000,
};
#define TIDY_AFTER_MS (INT64_C(30) * 24 * HOUR_MS)

struct retention {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct pending_calls *pending_calls;
    struct retention_row row;
    int64_t looked_ms; /* loop clock */
    struct timer tick;
};

void retention_step(struct retention_row *row, int64_t wall_ms, int64_t passed_ms)
{
    bool is_leap = wall_ms - row->believed_ms > HOUR_MS;

    if (is_leap)
        row->waited_ms += passed_ms;
    if (!is_leap || row->waited_ms >= WAIT_MS)
        *row = (struct retention_row){ wall_ms, 0 };
}

int64_t retention_now_ms(const struct retention *r, const struct clock *clock)
{
    return r ? r->row.believed_ms : clock_wall_ms(clock);
}

static void retention_look(struct retention *r)
{
    int64_t wall_ms = clock_wall_ms(loop_clock(r->loop)), now_ms = loop_now_ms(r->loop);
    int64_t before_ms = r->row.believed_ms;

    retention_step(&r->row, wall_ms, now_ms - r->looked_ms);
    r->looked_ms = now_ms;
    if (r->row.believed_ms != wall_ms)
        LOG(r->log, LOG_WARN, "the clock has leapt ahead: if it is right, old things go later",
            log_int("hours_ahead", (wall_ms - before_ms) / HOUR_MS),
            log_int("removed_in_hours", (WAIT_MS - r->row.waited_ms) / HOUR_MS),
            log_str("hint", "set the clock back if it is wrong"));
}

static void on_done(void *arg, struct store_call *c)
{
    struct retention *r = arg;

    if (c->failed)
        LOG(r->log, LOG_WARN, "old things stay for a while longer", log_err(&c->err));
    store_call_free(c);
}

static void retention_submit(struct retention *r, const struct store_verb *verb, const void *in,
                             size_t size)
{
    struct store_call *c = store_call_new(verb, on_done, r);
    struct err err;

    c->in = memcpy(arena_alloc(&c->arena, size), in, size);
    if (pending_calls_submit(r->pending_calls, c, &err) == 0)
        return;
    c->failed = true;
    c->err = err;
    on_done(r, c);
}

static void retention_on_tick(void *arg)
{
    struct retention *r = arg;
    struct retention_tidy_ask tidy;

    retention_look(r);
    tidy = (struct retention_tidy_ask){ r->row.believed_ms - TIDY_AFTER_MS, TIDY_ROWS };
    retention_submit(r, &store_retention_put, &r->row, sizeof(r->row));
    retention_submit(r, &store_retention_tidy, &tidy, sizeof(tidy));
    timer_set(r->loop, &r->tick, TICK_MS);
}

struct retention *retention_new(struct loop *loop, struct log *log, struct store *store)
{
    struct retention *r = xalloc(sizeof(*r));

    *r = (struct retention){ .loop = loop, .log = log, .store = store };
    r->pending_calls = pending_calls_new(store);
    timer_init(&r->tick, retention_on_tick, r);
    return r;
}

void retention_free(struct retention *r)
{
    if (!r)
        return;
    timer_stop(r->loop, &r->tick);
    pending_calls_free(r->pending_calls);
    free(r);
}

/* The first tick comes with the first turn of the loop: a start is a time to check the clock. */
int retention_load(struct retention *r, struct err *err)
{
    struct arena a = { 0 };
    struct list rows = { 0 };
    int result = store_sync(r->store, &store_retention_find, NULL, &a, &rows, err);

    r->row.believed_ms = clock_wall_ms(loop_clock(r->loop));
    r->looked_ms = loop_now_ms(r->loop);
    if (result == 0 && rows.n)
        r->row = *(const struct retention_row *)rows.items;
    if (result == 0)
        timer_set(r->loop, &r->tick, 0);
    arena_free(&a);
    return result ? err_wrap(err, "load the clock of retention") : 0;
}
