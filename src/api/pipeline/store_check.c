/* SPDX-License-Identifier: MIT */
/* store_check.c - see store_check.h. */
#include "api/pipeline/store_check.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem/mem.h"
#include "store/store_probe.h"

struct waiter {
    STAILQ_ENTRY(waiter) link;
    store_checked_fn *fn;
    void *arg;
};

struct store_check {
    struct loop *loop;
    struct store *store;
    STAILQ_HEAD(, waiter) waiters; /* for the check in progress */
    struct timer limit;
    bool is_under_way, is_known;
    int64_t begun_ms, known_ms; /* start of the current check; end of the last one */
    bool is_bad;
    struct err trouble; /* valid if is_bad */
};

static const struct err *last_trouble(const struct store_check *s)
{
    return s->is_bad ? &s->trouble : NULL;
}

static void answer_waiters(struct store_check *s, const struct err *trouble)
{
    struct waiter *w;

    while ((w = STAILQ_FIRST(&s->waiters))) {
        STAILQ_REMOVE_HEAD(&s->waiters, link);
        w->fn(w->arg, trouble);
        free(w);
    }
}

static bool is_late(const struct store_check *s)
{
    return s->is_under_way && loop_now_ms(s->loop) - s->begun_ms >= STORE_CHECK_LIMIT_MS;
}

static void set_late(const struct store_check *s, struct err *err)
{
    err_set(err, ERR_UNAVAILABLE, "the store does not answer: a write has waited for %lld s",
            (long long)(loop_now_ms(s->loop) - s->begun_ms) / 1000);
}

static void on_limit(void *arg)
{
    struct store_check *s = arg;
    struct err late;

    set_late(s, &late);
    answer_waiters(s, &late);
}

static void on_probed(void *arg, struct store_call *c)
{
    struct store_check *s = arg;

    timer_stop(s->loop, &s->limit);
    s->is_under_way = false;
    s->is_known = true;
    s->known_ms = loop_now_ms(s->loop);
    s->is_bad = c->failed;
    s->trouble = c->err;
    store_call_free(c);
    answer_waiters(s, last_trouble(s));
}

static int begin_check(struct store_check *s, struct err *err)
{
    struct store_call *c = store_call_new(&store_probe, on_probed, s);

    if (store_submit(s->store, c, err)) {
        store_call_free(c);
        return -1;
    }
    s->is_under_way = true;
    s->begun_ms = loop_now_ms(s->loop);
    timer_set(s->loop, &s->limit, STORE_CHECK_LIMIT_MS);
    return 0;
}

static bool is_fresh(const struct store_check *s)
{
    return !s->is_under_way && s->is_known &&
           loop_now_ms(s->loop) - s->known_ms < STORE_CHECK_FRESH_MS;
}

void store_check_ask(struct store_check *s, store_checked_fn *fn, void *arg)
{
    struct waiter *w;
    struct err err;

    if (is_fresh(s)) {
        fn(arg, last_trouble(s));
        return;
    }
    if (is_late(s)) {
        set_late(s, &err);
        fn(arg, &err);
        return;
    }
    if (!s->is_under_way && begin_check(s, &err)) {
        fn(arg, &err);
        return;
    }
    w = xalloc(sizeof(*w));
    w->fn = fn;
    w->arg = arg;
    STAILQ_INSERT_TAIL(&s->waiters, w, link);
}

struct store_check *store_check_new(struct loop *loop, struct store *store)
{
    struct store_check *s = xalloc(sizeof(*s));

    *s = (struct store_check){ .loop = loop, .store = store };
    STAILQ_INIT(&s->waiters);
    timer_init(&s->limit, on_limit, s);
    return s;
}

void store_check_free(struct store_check *s)
{
    struct waiter *w;

    if (!s)
        return;
    timer_stop(s->loop, &s->limit);
    while ((w = STAILQ_FIRST(&s->waiters))) {
        STAILQ_REMOVE_HEAD(&s->waiters, link);
        free(w);
    }
    free(s);
}
