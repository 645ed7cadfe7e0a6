/* SPDX-License-Identifier: MIT */
/* sim_world.c - see sim_world.h. */
#include "tests/sim/lib/sim_world.h"

#include <stdio.h>

#include "tests/sim/lib/sim_host.h"

/* splitmix64: consecutive seeds give unrelated worlds. */
static uint64_t below(uint64_t *x, uint64_t n)
{
    uint64_t z = *x += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return ((z ^ (z >> 31)) >> 11) % n;
}

static void choose_size(uint64_t *x, struct sim_world *w)
{
    uint64_t size = below(x, 100);

    if (size < 88) {
        w->agents = 1 + (int)below(x, 2);
        w->faults_ms = 10000 + (int64_t)below(x, 40000);
    } else if (size < 99) {
        w->agents = 1 + (int)below(x, 4);
        w->faults_ms = 60000 + (int64_t)below(x, 120000);
    } else {
        w->agents = AGENTS_MAX / 2 + (int)below(x, AGENTS_MAX / 2 + 1);
        w->faults_ms = 120000 + (int64_t)below(x, 300000);
    }
}

void sim_world_make(uint64_t seed, struct sim_world *ret)
{
    static const int items[] = { 1, 1, 2, 3, 3, 3, 3, 3, 8, 40 };
    static const int64_t paces[] = { 1000, 4000, 4000, 4000 };
    uint64_t x = seed;
    bool is_plain;

    choose_size(&x, ret);
    ret->items_max = items[below(&x, sizeof(items) / sizeof(items[0]))];
    ret->ask_ms = paces[below(&x, 4)] * (ret->items_max > 3 ? 2 : 1);
    ret->hurt_ms = paces[below(&x, 4)] * 3 / 2;
    ret->compact_over = 10 + below(&x, 60);
    ret->events_max = 1 + below(&x, 3);
    ret->per_agent = 1 + below(&x, 4);
    ret->total = 1 + below(&x, 6);
    is_plain = below(&x, 8) == 0;
    for (int i = 0; i < TRAITS; i++)
        ret->has[i] = below(&x, 4) == 0 && !is_plain;
    if (!ret->has[TRAIT_FEW_EVENTS])
        ret->events_max = 1000;
}

void sim_world_text(const struct sim_world *w, char *to, size_t size)
{
    static const char *const texts[TRAITS] = {
#define ROW(name, text) [TRAIT_##name] = text,
        SIM_TRAIT_ROWS(ROW)
#undef ROW
    };
    size_t n = (size_t)snprintf(to, size, "%d agents for %lld s, tasks of up to %d:", w->agents,
                                (long long)w->faults_ms / 1000, w->items_max);

    for (int i = 0; i < TRAITS; i++) {
        if (w->has[i] && n < size)
            n += (size_t)snprintf(to + n, size - n, " %s", texts[i]);
    }
}
