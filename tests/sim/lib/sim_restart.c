/* SPDX-License-Identifier: MIT */
/* sim_restart.c - see sim_restart.h. */
#include "tests/sim/lib/sim_restart.h"

#include <signal.h>
#include <string.h>

#include "agent/supervise/core_list.h"
#include "tests/sim/lib/sim_in.h"

/* LIFE_MS: a run was up, and its start is over: start_check_secs is 3 at most, and a start command
 * takes less than a second.  SOON_MS: a probe, a slot and the begin of a command. */
enum { LIFE_MS = 5000, SOON_MS = 2000, MINUTE_MS = 60 * 1000, KILLS = 12 };

void sim_restart_run(struct host *h, const struct core_run *run)
{
    struct sim_restarts *r = &h->restarts[run->name[1] - '0'];
    int64_t *begun_ms = &r->begun_ms[r->n % RESTARTS_MAX];

    if (*run->task || !strcmp(run->line, "stop"))
        return;
    r->fell_ms = 0;
    if (r->n >= RESTARTS_MAX && h->sim->now_ms - *begun_ms < MINUTE_MS)
        sim_fail(h->sim, "host %d: %s is restarted more than %d times in a minute", h->n, run->name,
                 RESTARTS_MAX);
    *begun_ms = h->sim->now_ms;
    r->n++;
    h->sim->report.counts[SIM_RESTARTS]++;
}

void sim_restart_forget(struct host *h)
{
    memset(h->restarts, 0, sizeof(h->restarts));
}

/* ---- the calm at the end */

/* Leftover workers are ended first: a second for a new main process in the pid file, and the time
 * that they take. */
static int64_t soon_ms(const struct sim *s)
{
    return s->world.has[TRAIT_FAMILIES] ? 2 * SOON_MS : SOON_MS;
}

static void on_soon(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (h->restarts[e->a].fell_ms)
        sim_fail(e->sim, "host %d: p%d was up and has ended, and is not begun again after %d ms",
                 e->host, (int)e->a, (int)soon_ms(e->sim));
}

static void fell(void *event, const struct core_hosted *hosted)
{
    struct event *e = event;
    struct sim *s = e->sim;
    struct host *h = &s->hosts[e->host];
    int key = hosted->meta.name[1] - '0';
    struct process *p = key == e->a ? process_daemon(h, key) : NULL;

    if (!p || p->unjournaled || !p->is_watched || s->now_ms - p->ticks < LIFE_MS)
        return;
    h->restarts[key].fell_ms = s->now_ms;
    s->report.counts[SIM_KILLS]++;
    process_die(h, p, CORE_SIGNALED + SIGSEGV);
    sim_later(s, soon_ms(s), h->n, 0, on_soon)->a = key;
}

static void count_one(void *n, const struct core_hosted *hosted)
{
    (void)hosted;
    ++*(size_t *)n;
}

static size_t n_hosted(const struct host *h)
{
    size_t n = 0;

    core_each_hosted(h->core, count_one, &n);
    return n;
}

static void on_kill(struct event *e)
{
    core_each_hosted(e->sim->hosts[e->host].core, fell, e);
}

static void on_flapped(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if ((int64_t)n_hosted(h) != e->a)
        sim_fail(e->sim, "host %d: a process whose runs were up is not hosted any more", h->n);
    sim_wanted_check(h);
}

void sim_restart_flap(struct sim *s)
{
    for (int i = 0; i < s->world.agents; i++) {
        for (int k = 0; k < KILLS; k++) /* one after the other: some wait for others */
            sim_later(s, k * LIFE_MS, i, 0, on_kill)->a = k % KEYS;
        sim_later(s, (KILLS + 1) * LIFE_MS, i, 0, on_flapped)->a = (int64_t)n_hosted(&s->hosts[i]);
    }
}
