/* SPDX-License-Identifier: MIT */
/* heartbeat.c - see heartbeat.h. */
#include "server/sessions/heartbeat.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/text/msg.h"

enum { DURATION_SIZE = 80, TEXT_SIZE = 256 };

/* One agent. */
struct beat {
    struct heartbeat *all;
    struct timer timer; /* set while the agent is offline and not lost */
    bool is_lost;
    int64_t returns;  /* how often it came back after being lost, since it was last steady */
    int64_t since_ms; /* when its last session began */
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

/* ---- events ---- */

/* As duration_put(), but a message. */
static void put_duration(char to[DURATION_SIZE], int64_t ms)
{
    int64_t s = ms > 0 ? ms / 1000 : 0, tenth = ms > 0 ? ms % 1000 / 100 : 0;
    long long minutes = s / 60, hours = s / 3600, days = s / 86400;

    if (s < 10 && tenth)
        msg_printf(to, DURATION_SIZE, "%d.%ds", (int)s, (int)tenth);
    else if (!minutes)
        msg_printf(to, DURATION_SIZE, "%llds", (long long)s);
    else if (!hours)
        msg_printf(to, DURATION_SIZE, "%lldm %llds", minutes, (long long)s % 60);
    else if (!days)
        msg_printf(to, DURATION_SIZE, "%lldh %lldm", hours, minutes % 60);
    else
        msg_printf(to, DURATION_SIZE, "%lldd %lldh", days, hours % 24);
}

static const char *offline_time(const struct heartbeat *h, const struct fleet_host *host,
                                char to[DURATION_SIZE])
{
    put_duration(to, clock_wall_ms(loop_clock(h->loop)) - host->since_ms);
    return to;
}

/* A removed host is forgotten, without an event. */
static void on_offline(void *arg)
{
    struct beat *b = arg;
    struct heartbeat *h = b->all;
    const struct fleet_host *host = fleet_find(h->fleet, b->agent_id);
    char text[TEXT_SIZE], time[DURATION_SIZE];

    if (!host) {
        map_del_str(&h->beats, b->agent_id);
        free(b);
        return;
    }
    b->is_lost = true;
    if (fleet_is_new(host))
        msg_printf(text, sizeof(text),
                   "the agent joined %s ago and has not connected since: is it running there?",
                   offline_time(h, host, time));
    else
        msg_printf(text, sizeof(text),
                   "the agent has not been connected for %s; the state of its processes "
                   "is unknown, and they keep running",
                   offline_time(h, host, time));
    events_tell(h->events, host, EVENT_LOST, text);
}

static void tell_back(struct heartbeat *h, const struct fleet_host *host)
{
    char text[TEXT_SIZE], time[DURATION_SIZE];

    msg_printf(text, sizeof(text), "the agent is connected again, after %s",
               offline_time(h, host, time));
    events_tell(h->events, host, EVENT_BACK, text);
}

/* ---- sessions ---- */

static struct beat *beat_get(struct heartbeat *h, const char *agent_id)
{
    struct beat *b = map_find_str(&h->beats, agent_id);
    size_t size = strlen(agent_id) + 1;

    if (b)
        return b;
    b = xalloc(sizeof(*b) + size);
    b->all = h;
    timer_init(&b->timer, on_offline, b);
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
            beat_get(h, rows[i].agent_id)->is_lost = true;
    }
    for (; host; host = fleet_next(h->fleet, host->agent_id)) {
        struct beat *b = beat_get(h, host->agent_id);

        if (!b->is_lost)
            timer_set(h->loop, &b->timer, ms);
    }
}

/* An agent that joins again is connected, or its timer is set already. */
void heartbeat_on_joined(struct heartbeat *h, const char *agent_id)
{
    if (!map_find_str(&h->beats, agent_id))
        timer_set(h->loop, &beat_get(h, agent_id)->timer, h->lost_ms);
}

/* Called before fleet_set_session(), so since_ms of the host is still the time when it went
 * offline. */
void heartbeat_on_session(struct heartbeat *h, const char *agent_id)
{
    const struct fleet_host *host = fleet_find(h->fleet, agent_id);
    struct beat *b = beat_get(h, agent_id);

    timer_stop(h->loop, &b->timer);
    b->since_ms = loop_now_ms(h->loop);
    if (!b->is_lost)
        return;
    b->is_lost = false;
    b->returns++;
    if (host)
        tell_back(h, host);
}

static int64_t lost_after_ms(const struct heartbeat *h, const struct beat *b)
{
    int64_t ms = h->lost_ms;
    int64_t max_ms = ms > HEARTBEAT_LOST_MAX_MS ? ms : HEARTBEAT_LOST_MAX_MS;

    for (int64_t i = 0; i < b->returns && ms < max_ms; i++)
        ms *= 2;
    return ms < max_ms ? ms : max_ms;
}

void heartbeat_on_session_end(struct heartbeat *h, const char *agent_id)
{
    struct beat *b = beat_get(h, agent_id);

    if (loop_now_ms(h->loop) - b->since_ms >= HEARTBEAT_STEADY_MS)
        b->returns = 0;
    timer_set(h->loop, &b->timer, lost_after_ms(h, b));
}

/* An agent that is offline and not lost yet is removed by its timer. */
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
