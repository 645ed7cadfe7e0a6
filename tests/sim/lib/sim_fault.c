/* SPDX-License-Identifier: MIT */
/* sim_fault.c - the faults, until the world is calm. */
#include <stdlib.h>

#include "base/mem/mem.h"
#include "tests/sim/lib/sim_in.h"

static void on_host_up(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (!h->core)
        host_start(h);
}

/* Usually back before it counts as offline; sometimes only after every deadline. */
static int64_t away_ms(struct sim *s)
{
    return 50 + (int64_t)sim_below(s, sim_below(s, 6) ? 8000 : 60000);
}

void sim_kill_agent(struct host *h, bool power_loss)
{
    host_kill(h, power_loss);
    sim_later(h->sim, away_ms(h->sim), h->n, 0, on_host_up);
}

/* ---- in every world */

static void kill_agent(struct sim *s, struct host *h)
{
    if (h->core)
        sim_kill_agent(h, sim_below(s, 4) == 0);
}

/* An agent that cannot write its journal is not replaced. */
static void replace_agent(struct sim *s, struct host *h)
{
    if (!h->core || h->disk.is_broken)
        return;
    host_upgrade(h);
    sim_later(s, 1 + (int64_t)sim_below(s, 50), h->n, 0, on_host_up);
}

static void on_server_down(struct event *e);

static void on_server_up(struct event *e)
{
    struct sim *s = e->sim;

    if (s->hub)
        return;
    server_start(s);
    if (s->world.has[TRAIT_RESTLESS] && sim_chance(s, 60))
        sim_later(s, (int64_t)sim_below(s, HUB_GRACE_MS + 5000), -1, s->server_life,
                  on_server_down);
}

static void on_server_down(struct event *e)
{
    struct sim *s = e->sim;

    if (s->is_calm || !s->hub)
        return;
    server_kill(s);
    sim_later(s, 50 + (int64_t)sim_below(s, 8000), -1, 0, on_server_up);
}

static void kill_server(struct sim *s, struct host *h)
{
    (void)h; /* affects all hosts */
    sim_later(s, 0, -1, s->server_life, on_server_down);
}

static void cut_link(struct sim *s, struct host *h)
{
    (void)s;
    host_disconnect(h);
}

static void kill_process(struct sim *s, struct host *h)
{
    (void)s;
    process_kill_some(h);
}

static void jump_clock(struct sim *s, struct host *h)
{
    h->wall_jump_ms += (int64_t)sim_below(s, 7200000) - 3600000;
}

/* ---- in some worlds */

static void on_reset(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (h->link == (uint64_t)e->a)
        host_disconnect(h);
}

static void on_hole_seen_by_agent(struct event *e)
{
    if (e->sim->hosts[e->host].hole_until_ms > e->sim->now_ms)
        on_reset(e);
}

/* Each side detects the dead link by itself.  If the server did, it answers the agent's next
 * message with a reset. */
static void on_hole_seen_by_server(struct event *e)
{
    struct sim *s = e->sim;
    int64_t left_ms = s->hosts[e->host].hole_until_ms - s->now_ms;

    if (left_ms <= 0)
        return;
    server_session_end(s, e->host, e->a);
    sim_later(s, left_ms, e->host, 0, on_reset)->a = e->a;
}

static void open_hole(struct sim *s, struct host *h)
{
    enum { NOTICE_MS = 30000 };

    if (!h->link || h->hole_until_ms > s->now_ms)
        return;
    h->hole_until_ms = s->now_ms + 1000 + (int64_t)sim_below(s, 70000);
    s->report.counts[SIM_HOLES]++;
    sim_trace(s, "host %d: its link lets nothing through until %lld", h->n,
              (long long)h->hole_until_ms);
    sim_later(s, (int64_t)sim_below(s, NOTICE_MS), h->n, 0, on_hole_seen_by_server)->a =
        (int64_t)h->link;
    sim_later(s, (int64_t)sim_below(s, NOTICE_MS), h->n, 0, on_hole_seen_by_agent)->a =
        (int64_t)h->link;
}

static void slow_down(struct sim *s, struct host *h)
{
    h->slow_until_ms = s->now_ms + (int64_t)sim_below(s, 40000);
}

static void storm(struct sim *s, struct host *h)
{
    (void)h;
    s->report.counts[SIM_STORMS]++;
    for (int i = 0; i < s->world.agents; i++)
        host_disconnect(&s->hosts[i]);
}

static void fill_disk(struct sim *s, struct host *h)
{
    s->report.counts[SIM_FULL_DISKS]++;
    h->disk.full_until_ms = s->now_ms + (int64_t)sim_below(s, 15000);
    sim_trace(s, "host %d: disk full until %lld", h->n, (long long)h->disk.full_until_ms);
}

static void lock_store(struct sim *s, struct host *h)
{
    int64_t until_ms = s->now_ms + (int64_t)sim_below(s, 12000);

    (void)h;
    s->store_down_ms = s->store_down_ms > until_ms ? s->store_down_ms : until_ms;
    sim_trace(s, "store: refuses until %lld", (long long)s->store_down_ms);
}

static void flood(struct sim *s, struct host *h)
{
    for (int n = 3 + (int)sim_below(s, 10); n > 0; n--)
        process_kill_some(h);
}

/* Anything about items of other agents; about its own items anything but results. */
static void lie(struct sim *s, struct host *h)
{
    static const int64_t codes[] = { CODE_OK, CODE_COMMAND, CODE_WAITING, CODE_CANCELLED };
    struct message_result m = { .text = "a lie" };
    const struct sim_task *t;
    char *json;

    if (!h->link || !s->n_tasks || h->hole_until_ms > s->now_ms)
        return;
    t = &s->tasks[s->n_tasks - 1 - (int)sim_below(s, s->n_tasks < 8 ? (uint64_t)s->n_tasks : 8)];
    m.task = t->id;
    m.item = (int64_t)sim_below(s, (uint64_t)t->n + 2) - 1;
    m.code = codes[sim_below(s, ARRAY_LEN(codes))];
    if (m.item >= 0 && m.item < t->n && t->items[m.item].host == h->n)
        m.code = CODE_WAITING;
    shape_defaults(&proc_view_shape, &m.view);
    m.view.space = "space";
    m.view.name = "p0";
    s->report.counts[SIM_LIES]++;
    sim_trace(s, "host %d: says that %s#%lld is %lld", h->n, t->id, (long long)m.item,
              (long long)m.code);
    json = sim_json(s, &message_result_shape, &m);
    server_deliver(s, h->n, (int64_t)h->link, MESSAGE_RESULT, json);
    free(json);
}

/* clang-format off */
static const struct {
    unsigned weight;
    int trait; /* -1: in every world */
    void (*fn)(struct sim *s, struct host *h);
} faults[] = {
    { 20, -1,               kill_agent },
    { 6,  -1,               replace_agent },
    { 8,  -1,               kill_server },
    { 20, -1,               cut_link },
    { 30, -1,               kill_process },
    { 10, -1,               jump_clock },
    { 20, TRAIT_HOLES,      open_hole },
    { 20, TRAIT_SLOW,       slow_down },
    { 20, TRAIT_STORMS,     storm },
    { 25, TRAIT_FULL_DISKS, fill_disk },
    { 15, TRAIT_REFUSALS,   lock_store },
    { 20, TRAIT_FLOODS,     flood },
    { 40, TRAIT_LIES,       lie },
    { 15, TRAIT_RESTLESS,   kill_server },
};
/* clang-format on */

static bool is_possible(const struct sim *s, size_t fault)
{
    return faults[fault].trait < 0 || s->world.has[faults[fault].trait];
}

void sim_hurt(struct sim *s)
{
    struct host *h = &s->hosts[sim_below(s, (uint64_t)s->world.agents)];
    uint64_t all = 0, what;

    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        all += is_possible(s, i) ? faults[i].weight : 0;
    what = sim_below(s, all);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        if (!is_possible(s, i))
            continue;
        if (what < faults[i].weight) {
            faults[i].fn(s, h);
            return;
        }
        what -= faults[i].weight;
    }
}

/* Resets links that the server has given up. */
void sim_heal(struct sim *s)
{
    s->store_down_ms = s->store_down_ms < s->now_ms ? s->store_down_ms : s->now_ms;
    for (int i = 0; i < s->world.agents; i++) {
        struct host *h = &s->hosts[i];

        if (h->hole_until_ms > s->now_ms && s->sessions[i] != (int64_t)h->link)
            host_disconnect(h);
        h->hole_until_ms = h->slow_until_ms = h->disk.full_until_ms = 0;
    }
}
