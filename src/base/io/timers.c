/* SPDX-License-Identifier: MIT */
/* timers.c - see timers.h. */
#include "base/io/timers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem/mem.h"

static void timers_put(struct timers *ts, size_t place, struct timers_slot slot)
{
    ts->heap[place] = slot;
    slot.timer->place = place;
}

static bool is_before(const struct timers_slot *a, const struct timers_slot *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->seq < b->seq;
}

/* Moves `slot` up or down from `place` to its position in the heap. */
static void sift(struct timers *ts, size_t place, struct timers_slot slot)
{
    while (place > 1 && is_before(&slot, &ts->heap[place / 2])) {
        timers_put(ts, place, ts->heap[place / 2]);
        place /= 2;
    }
    for (;;) {
        size_t child = place * 2;

        if (child < ts->n && is_before(&ts->heap[child + 1], &ts->heap[child]))
            child++;
        if (child > ts->n || !is_before(&ts->heap[child], &slot))
            break;
        timers_put(ts, place, ts->heap[child]);
        place = child;
    }
    timers_put(ts, place, slot);
}

void timer_init(struct timer *t, void (*fn)(void *arg), void *arg)
{
    *t = (struct timer){ .fn = fn, .arg = arg };
}

void timers_set(struct timers *ts, struct timer *t, int64_t due_ms)
{
    const struct timers_slot slot = { due_ms, ts->next_seq++, t };

    t->due_ms = due_ms;
    if (!t->place) {
        if (ts->n + 2 > ts->cap) {
            ts->cap = ts->cap ? ts->cap * 2 : 64;
            ts->heap = xresize(ts->heap, ts->cap * sizeof(*ts->heap));
        }
        t->place = ++ts->n;
    }
    sift(ts, t->place, slot);
}

void timers_stop(struct timers *ts, struct timer *t)
{
    size_t place = t->place;
    struct timers_slot last;

    if (!place)
        return;
    t->place = 0;
    last = ts->heap[ts->n--];
    if (last.timer != t)
        sift(ts, place, last);
}

void timers_free(struct timers *ts)
{
    free(ts->heap);
    *ts = (struct timers){ 0 };
}

int64_t timers_next_ms(const struct timers *ts)
{
    return ts->n ? ts->heap[1].due_ms : INT64_MAX;
}

struct timer *timers_take(struct timers *ts, int64_t now_ms, uint64_t seq)
{
    const struct timers_slot *first = ts->n ? &ts->heap[1] : NULL;
    struct timer *t;

    if (!first || first->due_ms > now_ms || first->seq >= seq)
        return NULL;
    t = first->timer;
    timers_stop(ts, t);
    return t;
}
