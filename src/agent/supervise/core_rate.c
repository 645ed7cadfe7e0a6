/* SPDX-License-Identifier: MIT */
/* core_rate.c - see core_rate.h. */
#include "agent/supervise/core_rate.h"

#include <stdlib.h>

#include "agent/supervise/core_in.h"
#include "base/mem/mem.h"

enum { SLOT_MS = 30 * 1000, SLOTS = RATE_MINUTES * 60 * 1000 / SLOT_MS };

struct rate {
    struct proc *proc;
    struct timer timer; /* RATE_MINUTES after the last restart */
    int64_t slot;       /* number of the newest slot; the time in SLOT_MS */
    int64_t told_ms;    /* the last event */
    bool is_told;
    unsigned n[SLOTS];
};

static void rate_advance(struct rate *r, int64_t slot)
{
    int64_t steps = slot - r->slot < SLOTS ? slot - r->slot : SLOTS;

    for (int64_t i = 0; i < steps; i++)
        r->n[(slot - i) % SLOTS] = 0;
    r->slot = slot;
}

static int64_t rate_count(const struct rate *r)
{
    int64_t n = 0;

    for (size_t i = 0; i < SLOTS; i++)
        n += r->n[i];
    return n;
}

static void on_quiet(void *arg)
{
    struct rate *r = arg;
    struct proc *k = r->proc;

    k->cause.recent_restarts = k->cause.recent_s = 0;
    if (core_is_known(k))
        journal_note_process(k);
    core_tell_process(k);
}

static struct rate *rate_of(struct proc *k)
{
    struct rate *r = k->rate;

    if (r)
        return r;
    r = k->rate = xalloc(sizeof(*r));
    r->proc = k;
    r->slot = k->core->now_ms / SLOT_MS;
    timer_init(&r->timer, on_quiet, r);
    return r;
}

void rate_resume(struct proc *k)
{
    if (k->cause.recent_restarts)
        timers_set(&k->core->timers, &rate_of(k)->timer,
                   k->core->now_ms + RATE_MINUTES * 60 * 1000);
}

void rate_on_restart(struct proc *k)
{
    int64_t now_ms = k->core->now_ms, n;
    struct rate *r = rate_of(k);

    timers_set(&k->core->timers, &r->timer, now_ms + RATE_MINUTES * 60 * 1000);
    rate_advance(r, now_ms / SLOT_MS);
    r->n[r->slot % SLOTS]++;
    n = rate_count(r);
    k->cause.recent_restarts = n;
    k->cause.recent_s = k->core->wall_ms / 1000;
    if (n < RATE_FLAPPING || (r->is_told && now_ms - r->told_ms < RATE_MINUTES * 60 * 1000))
        return;
    r->is_told = true;
    r->told_ms = now_ms;
    core_tell_event(k, "process_flapping", "%s was restarted %lld times in %d minutes",
                    k->meta.name, (long long)n, RATE_MINUTES);
}

void rate_free(struct proc *k)
{
    if (k->rate)
        timers_stop(&k->core->timers, &k->rate->timer);
    free(k->rate);
    k->rate = NULL;
}
