/* SPDX-License-Identifier: MIT */
/* pace.c - see pace.h. */
#include "wire/pace.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct pace {
    struct loop *loop;
    struct pace_slice slice;
    struct timer timer; /* the next turn, while somebody waits */
    TAILQ_HEAD(, pace_place) line;
    size_t n;
};

/* The loop's own time stands still while callbacks run, so the clock is asked. */
static void on_turn(void *arg)
{
    struct pace *p = arg;
    const struct clock *clock = loop_clock(p->loop);
    int64_t end_ms = clock_mono_ms(clock) + p->slice.ms;
    struct pace_place *first;

    for (size_t i = 0; i < p->slice.n && (first = TAILQ_FIRST(&p->line)); i++) {
        pace_leave(p, first);
        first->fn(first->arg);
        if (clock_mono_ms(clock) >= end_ms)
            break;
    }
    if (p->n > 0)
        timer_set(p->loop, &p->timer, 0);
}

struct pace *pace_new(struct loop *loop, const struct pace_slice *slice)
{
    struct pace *p = xalloc(sizeof(*p));

    *p = (struct pace){ .loop = loop, .slice = *slice };
    timer_init(&p->timer, on_turn, p);
    TAILQ_INIT(&p->line);
    return p;
}

void pace_free(struct pace *p)
{
    if (!p)
        return;
    assert(p->n == 0);
    timer_stop(p->loop, &p->timer);
    free(p);
}

void pace_wait(struct pace *p, struct pace_place *place)
{
    if (place->is_waiting)
        return;
    place->is_waiting = true;
    TAILQ_INSERT_TAIL(&p->line, place, link);
    if (p->n++ == 0)
        timer_set(p->loop, &p->timer, 0);
}

void pace_leave(struct pace *p, struct pace_place *place)
{
    if (!place->is_waiting)
        return;
    place->is_waiting = false;
    TAILQ_REMOVE(&p->line, place, link);
    p->n--;
}

size_t pace_waiting(const struct pace *p)
{
    return p->n;
}
