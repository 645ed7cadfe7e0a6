/* SPDX-License-Identifier: MIT */
/* timeslice.c - see timeslice.h. */
#include "wire/net/timeslice.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem/mem.h"

struct timeslice {
    struct loop *loop;
    struct timeslice_limit slice;
    struct timer timer; /* the next turn, while there are waiters */
    TAILQ_HEAD(, timeslice_waiter) line;
    size_t n;
};

/* loop_now_us() does not change during callbacks, so this reads the clock. */
static void on_turn(void *arg)
{
    struct timeslice *p = arg;
    const struct clock *clock = loop_clock(p->loop);
    int64_t end_ms = clock_mono_ms(clock) + p->slice.ms;
    struct timeslice_waiter *first;

    for (size_t i = 0; i < p->slice.n && (first = TAILQ_FIRST(&p->line)); i++) {
        timeslice_leave(p, first);
        first->fn(first->arg);
        if (clock_mono_ms(clock) >= end_ms)
            break;
    }
    if (p->n > 0)
        timer_set(p->loop, &p->timer, 0);
}

struct timeslice *timeslice_new(struct loop *loop, const struct timeslice_limit *slice)
{
    struct timeslice *p = xalloc(sizeof(*p));

    *p = (struct timeslice){ .loop = loop, .slice = *slice };
    timer_init(&p->timer, on_turn, p);
    TAILQ_INIT(&p->line);
    return p;
}

void timeslice_free(struct timeslice *p)
{
    if (!p)
        return;
    assert(p->n == 0);
    timer_stop(p->loop, &p->timer);
    free(p);
}

void timeslice_wait(struct timeslice *p, struct timeslice_waiter *place)
{
    if (place->is_waiting)
        return;
    place->is_waiting = true;
    TAILQ_INSERT_TAIL(&p->line, place, link);
    if (p->n++ == 0)
        timer_set(p->loop, &p->timer, 0);
}

void timeslice_leave(struct timeslice *p, struct timeslice_waiter *place)
{
    if (!place->is_waiting)
        return;
    place->is_waiting = false;
    TAILQ_REMOVE(&p->line, place, link);
    p->n--;
}

size_t timeslice_waiting(const struct timeslice *p)
{
    return p->n;
}
