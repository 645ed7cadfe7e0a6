/* SPDX-License-Identifier: MIT */
/* sim_more.c - see sim_more.h.
 *
 * In some worlds there are limits, and every fourth process exceeds them all its life; when the
 * world is calm none does, so that it settles.  In some worlds a process is ready when its pid file
 * has its pid. */
#include "tests/sim/lib/sim_more.h"

#include "agent/supervise/core_use.h"
#include "tests/sim/lib/sim_in.h"

enum { INTERVAL_MS = 1500, GRACE_MS = 3000, MEM_BYTES = 1 << 30 };

void sim_limit_spec(const struct sim *s, int key, struct proc_spec *spec)
{
    if (!s->world.has[TRAIT_LIMITS] || key == 2)
        return;
    spec->has_resource = PRESENCE_GIVEN;
    spec->resource.cpu_percent = 50;
}

void sim_ready_spec(const struct sim *s, int key, struct proc_spec *spec)
{
    if (!s->world.has[TRAIT_READY] || key == 0)
        return;
    spec->extra.ready.kind = READY_PID_FILE;
    spec->extra.ready.timeout_s = 2 * key; /* for one key less than its command may take */
}

void sim_limit_host(struct host *h)
{
    core_set_machine(h->core, 1, MEM_BYTES);
    if (h->sim->world.has[TRAIT_LIMITS])
        core_set_limits(h->core, INTERVAL_MS, GRACE_MS);
}

static void on_sample(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    bool burns = e->a % 4 == 0 && !e->sim->is_calm;
    const struct core_sample s = { .cpu_us = e->sim->now_ms * (burns ? 900 : 1), .processes = 1 };

    core_on_sample(h->core, (struct core_ident){ e->a, e->b }, sim_chance(e->sim, 5) ? NULL : &s,
                   e->sim->now_ms);
    host_wake(h);
}

void sim_hand_sample(void *host, struct core_ident ident)
{
    struct host *h = host;
    struct event *e =
        sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 50), h->n, h->life, on_sample);

    e->a = ident.pid;
    e->b = ident.start_ticks;
}
