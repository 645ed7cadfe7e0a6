/* SPDX-License-Identifier: MIT */
/* sim.c - time, random numbers, the run. */
#include "tests/sim/lib/sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "tests/sim/lib/sim_in.h"

/* After the faults stop and all tasks have ended, every process gets one more task. */
enum { CALM_MS = 75 * 1000, LAST_MS = 45 * 1000 };

const char *const sim_count_texts[SIM_COUNTS] = {
#define ROW(name, text) [SIM_##name] = text,
    SIM_COUNT_ROWS(ROW)
#undef ROW
};

/* xorshift64*: small, and the same on every platform. */
static uint64_t next_random(struct sim *s)
{
    s->rng ^= s->rng >> 12;
    s->rng ^= s->rng << 25;
    s->rng ^= s->rng >> 27;
    return s->rng * 0x2545F4914F6CDD1Du;
}

uint64_t sim_below(struct sim *s, uint64_t n)
{
    return (next_random(s) >> 11) % n;
}

bool sim_chance(struct sim *s, unsigned percent)
{
    bool yes = sim_below(s, 100) < percent;

    return yes && !s->is_calm;
}

static void add_to_digest(struct sim *s, uint64_t n)
{
    s->report.digest = (s->report.digest ^ n) * 0x100000001B3u;
}

/* Without a trace the text is not formatted, which would take most of a run. */
void sim_trace(struct sim *s, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    int n;

    if (!s->o->trace && !s->o->wants_digest)
        return;
    va_start(ap, fmt);
    n = vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    for (int i = 0; i < n && i < (int)sizeof(line) - 1; i++)
        add_to_digest(s, (unsigned char)line[i]);
    if (s->o->trace)
        fprintf(s->o->trace, "%9lld %s\n", (long long)s->now_ms, line);
}

void sim_fail(struct sim *s, const char *fmt, ...)
{
    char why[256];
    va_list ap;

    if (s->has_failed)
        return;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    s->has_failed = true;
    err_set(s->err, ERR_CONFLICT, "seed %llu, at %lld ms: %s", (unsigned long long)s->o->seed,
            (long long)s->now_ms, why);
    sim_trace(s, "FAILED: %s", why);
}

static void free_event(struct event *e)
{
    free(e->json);
    pool_put(&e->sim->pool, e);
}

static void on_event(void *arg)
{
    struct event *e = arg;
    struct sim *s = e->sim;
    uint64_t life = e->host < 0 ? s->server_life : s->hosts[e->host].life;

    if (!e->life || e->life == life)
        e->fn(e);
    free_event(e);
}

struct event *sim_later(struct sim *s, int64_t in_ms, int host, uint64_t life,
                        void (*fn)(struct event *e))
{
    struct event *e = pool_get(&s->pool);

    e->sim = s;
    e->host = host;
    e->life = life;
    e->fn = fn;
    timer_init(&e->timer, on_event, e);
    timers_set(&s->timers, &e->timer, s->now_ms + in_ms);
    return e;
}

char *sim_json(struct sim *s, const struct shape *shape, const void *value)
{
    buf_truncate(&s->scratch, 0);
    shape_write(shape, value, &s->scratch);
    return xmemdup(buf_data(&s->scratch), s->scratch.len);
}

/* ---- the run */

static void on_fault(struct event *e)
{
    struct sim *s = e->sim;

    if (s->is_calm)
        return;
    sim_hurt(s);
    sim_later(s, (int64_t)sim_below(s, (uint64_t)s->world.hurt_ms), -1, 0, on_fault);
}

static void on_request(struct event *e)
{
    struct sim *s = e->sim;

    if (s->is_calm)
        return;
    client_request(s);
    sim_later(s, (int64_t)sim_below(s, (uint64_t)s->world.ask_ms), -1, 0, on_request);
}

static void run_until(struct sim *s, int64_t end_ms)
{
    while (!s->has_failed) {
        int64_t next = timers_next_ms(&s->timers);
        struct timer *t;

        if (next > end_ms)
            break;
        if (next > s->now_ms)
            s->now_ms = next;
        t = timers_take(&s->timers, s->now_ms, UINT64_MAX);
        s->report.counts[SIM_STEPS]++;
        add_to_digest(s, s->rng ^ (uint64_t)s->now_ms);
        t->fn(t->arg);
    }
    s->now_ms = end_ms;
}

static void calm(struct sim *s)
{
    s->is_calm = true;
    sim_trace(s, "calm after %ld steps", s->report.counts[SIM_STEPS]);
    sim_heal(s);
    if (!s->hub)
        server_start(s);
    for (int i = 0; i < s->world.agents; i++) {
        if (!s->hosts[i].core)
            host_start(&s->hosts[i]);
    }
}

static void drop_events(struct sim *s)
{
    struct timer *t;

    for (int i = 0; i < s->world.agents; i++)
        timers_stop(&s->timers, &s->hosts[i].wake);
    timers_stop(&s->timers, &s->server_wake);
    while ((t = timers_take(&s->timers, INT64_MAX, UINT64_MAX)))
        free_event(t->arg);
    timers_free(&s->timers);
    pool_done(&s->pool);
}

static void sim_free(struct sim *s)
{
    drop_events(s);
    for (int i = 0; i < s->world.agents; i++) {
        host_free(&s->hosts[i]);
        free(s->events[i].told);
    }
    hub_free(s->hub);
    for (int i = 0; i < s->n_tasks; i++)
        free(s->tasks[i].items);
    free(s->tasks);
    buf_free(&s->scratch);
    free(s);
}

static void begin(struct sim *s)
{
    char text[256];

    sim_world_make(s->o->seed, &s->world);
    sim_world_text(&s->world, text, sizeof(text));
    sim_trace(s, "a world of %s", text);
    pool_init(&s->pool, sizeof(struct event));
    client_specs(s);
    server_start(s);
    for (int i = 0; i < s->world.agents; i++) {
        s->hosts[i].sim = s;
        s->hosts[i].n = i;
        snprintf(s->hosts[i].id, sizeof(s->hosts[i].id), "agent-%d", i);
        host_start(&s->hosts[i]);
    }
    sim_later(s, 500, -1, 0, on_fault);
    sim_later(s, 100, -1, 0, on_request);
}

int sim_run(const struct sim_options *o, struct sim_report *ret, struct err *err)
{
    struct sim *s = xalloc(sizeof(*s));
    bool failed;

    s->o = o;
    s->err = err;
    s->rng = o->seed * 0x9E3779B97F4A7C15u + 1;
    s->now_ms = 1000;
    begin(s);
    run_until(s, s->now_ms + s->world.faults_ms);
    calm(s);
    run_until(s, s->now_ms + CALM_MS);
    client_ask_all(s);
    run_until(s, s->now_ms + LAST_MS);
    check_end(s);
    if (!s->has_failed)
        sim_restart_flap(s);
    run_until(s, s->now_ms + FLAP_MS);
    failed = s->has_failed;
    *ret = s->report;
    sim_free(s);
    return failed ? -1 : 0;
}
