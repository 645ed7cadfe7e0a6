/* SPDX-License-Identifier: MIT */
/* metrics_parts.c - the sources of metrics in a complete server; see metrics.h. */
#include "api/pipeline/api_state.h"
#include "api/pipeline/metrics.h"
#include "server/dispatch/task_counts.h"
#include "server/events/events.h"
#include "server/registry/pushes.h"
#include "server/sessions/agents.h"
#include "wire/http/http.h"

static const void *of_http(void *part, struct metrics_room *room)
{
    (void)room;
    return http_server_counters(part);
}

static const void *of_fleet(void *part, struct metrics_room *room)
{
    (void)room;
    return fleet_totals(part);
}

static const void *of_agents(void *part, struct metrics_room *room)
{
    (void)room;
    return agents_counters(part);
}

static const void *of_stats(void *part, struct metrics_room *room)
{
    agents_stats(part, &room->agent_stats);
    return &room->agent_stats;
}

static const void *of_tasks(void *part, struct metrics_room *room)
{
    (void)room;
    return tasks_counts(part);
}

static const void *of_store(void *part, struct metrics_room *room)
{
    (void)room;
    return store_counters(part);
}

static const void *of_events(void *part, struct metrics_room *room)
{
    (void)room;
    return events_counters(part);
}

static const void *of_pushes(void *part, struct metrics_room *room)
{
    room->pushes = pushes_waiting(part);
    return &room->pushes;
}

void metrics_watch(struct api *a, const struct metrics_parts *p)
{
    const struct metrics_source all[METRIC_SOURCES] = {
        [FROM_HTTP] = { of_http, p->http },
        [FROM_FLEET] = { of_fleet, a->parts.fleet },
        [FROM_AGENTS] = { of_agents, p->agents },
        [FROM_FIGURES] = { of_stats, p->agents },
        [FROM_TASKS] = { of_tasks, a->parts.tasks },
        [FROM_STORE] = { of_store, a->parts.store },
        [FROM_EVENTS] = { of_events, a->parts.events },
        [FROM_PUSHES] = { of_pushes, p->pushes },
    };

    for (int i = 0; i < METRIC_SOURCES; i++)
        a->metrics_from[i] = all[i];
}
