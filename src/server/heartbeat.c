/* SPDX-License-Identifier: MIT */
/* heartbeat.c - see heartbeat.h. */
#include "server/heartbeat.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "model/duration.h"

/* One agent. */
struct beat {
    struct heartbeat *all;
    struct timer timer; /* set while it is away and not lost */
    bool is_lost;
    int64_t returns;  /* from being lost, since it was last steady */
    int64_t since_ms; /* it has a session */
    char agent_id[];
};

struct heartbeat {
    struct loop *loop;
    struct fleet *fleet;
    struct events *events;
    int64_t lost_ms;
    struct map beats; /* by agent id */
};

struct heartbeat *heartbeat_new(struct loop *loop, struct fleet *fleet, struct events *events,
                                int64_t lost_ms)
{
    struct heartbeat *h = xalloc(sizeof(*h));

    *h = (struct heartbeat){ loop, fleet, events, lost_ms ? lost_ms : HEARTBEAT_LOST_MS, { 0 } };
    return h;
}

void heartbeat_free(struct heartbeat *h)
{
    struct map_entry *e;

    if (!h)
        return;
    for (size_t at = 0; (e = map_next(&h->beats, &at));) {
        struct beat *b = e->value;

        timer_stop(h->loop, &b->timer);
        free(b);
    }
    map_free(&h->beats);
    free(h);
}

/* ---- what is said ---- */

static void tell(struct heartbeat *h, const struct fleet_host *host, enum event_own what,
                 const char *before, const char *behind)
{
    int64_t away_ms = clock_wall_ms(loop_clock(h->loop)) - host->since_ms;
    struct buf text = { 0 };

    buf_puts(&text, before);
    duration_put(&text, LANG_EN, away_ms > 0 ? away_ms : 0);
    buf_puts(&text, behind);
    events_tell(h->events, host, what, buf_text(&text));
    buf_free(&text);
}

/* A host that was removed is not lost. */
static void on_away(void *arg)
{
    struct beat *b = arg;
    struct heartbeat *h = b->all;
    const struct fleet_host *host = fleet_find(h->fleet, b->agent_id);

    if (!host) {
        map_del_str(&h->beats, b->agent_id);
        free(b);
        return;
    }
    b->is_lost = true;
    if (fleet_is_new(host))
        tell(h, host, EVENT_LOST, "the agent joined ",
             " ago and has not connected since: is it running there?");
    else
        tell(h, host, EVENT_LOST, "the agent has not been connected for ",
             "; what runs there is not known, and runs on");
}

/* ---- who comes and goes ---- */

static struct beat *get(struct heartbeat *h, const char *agent_id)
{
    struct beat *b = map_find_str(&h->beats, agent_id);
    size_t size = strlen(agent_id) + 1;

    if (b)
        return b;
    b = xalloc(sizeof(*b) + size);
    b->all = h;
    timer_init(&b->timer, on_away, b);
    memcpy(b->agent_id, agent_id, size);
    map_put_str(&h->beats, b->agent_id, b);
    return b;
}

void heartbeat_start(struct heartbeat *h, const struct list *lost)
{
    const struct lost_row *rows = lost->items;
    int64_t ms = h->lost_ms > HEARTBEAT_START_MS ? h->lost_ms : HEARTBEAT_START_MS;
    const struct fleet_host *host = fleet_next(h->fleet, "");

    for (size_t i = 0; i < lost->n; i++) {
        if (fleet_find(h->fleet, rows[i].agent_id))
            get(h, rows[i].agent_id)->is_lost = true;
    }
    for (; host; host = fleet_next(h->fleet, host->agent_id)) {
        struct beat *b = get(h, host->agent_id);

        if (!b->is_lost)
            timer_set(h->loop, &b->timer, ms);
    }
}

/* One that has joined again is connected, or away and counted already. */
void heartbeat_on_joined(struct heartbeat *h, const char *agent_id)
{
    if (!map_find_str(&h->beats, agent_id))
        timer_set(h->loop, &get(h, agent_id)->timer, h->lost_ms);
}

/* Called before the fleet knows of the session: it still says since when it was away. */
void heartbeat_on_session(struct heartbeat *h, const char *agent_id)
{
    const struct fleet_host *host = fleet_find(h->fleet, agent_id);
    struct beat *b = get(h, agent_id);

    timer_stop(h->loop, &b->timer);
    b->since_ms = loop_now_ms(h->loop);
    if (!b->is_lost)
        return;
    b->is_lost = false;
    b->returns++;
    if (host)
        tell(h, host, EVENT_BACK, "the agent is connected again, after ", "");
}

static int64_t patience_ms(const struct heartbeat *h, const struct beat *b)
{
    int64_t ms = h->lost_ms;
    int64_t max_ms = ms > HEARTBEAT_LOST_MAX_MS ? ms : HEARTBEAT_LOST_MAX_MS;

    for (int64_t i = 0; i < b->returns && ms < max_ms; i++)
        ms *= 2;
    return ms < max_ms ? ms : max_ms;
}

void heartbeat_on_session_end(struct heartbeat *h, const char *agent_id)
{
    struct beat *b = get(h, agent_id);

    if (loop_now_ms(h->loop) - b->since_ms >= HEARTBEAT_STEADY_MS)
        b->returns = 0;
    timer_set(h->loop, &b->timer, patience_ms(h, b));
}

/* Who is away and not lost yet goes by his timer. */
void heartbeat_forget_gone(struct heartbeat *h)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&h->beats, &at));) {
        struct beat *b = e->value;

        if (!b->is_lost || fleet_find(h->fleet, b->agent_id))
            continue;
        map_del_str(&h->beats, b->agent_id);
        free(b);
    }
}
