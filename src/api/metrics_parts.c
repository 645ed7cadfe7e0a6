/* SPDX-License-Identifier: MIT */
/* metrics_parts.c - where the numbers of metrics.h come from, in a server that is whole. */
#include "api/api_in.h"
#include "api/metrics.h"
#include "server/agents.h"
#include "server/events.h"
#include "server/pushes.h"
#include "server/task_counts.h"

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

static const void *of_figures(void *part, struct metrics_room *room)
{
    agents_figures(part, &room->figures);
    return &room->figures;
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
        [FROM_FIGURES] = { of_figures, p->agents },
        [FROM_TASKS] = { of_tasks, a->parts.tasks },
        [FROM_STORE] = { of_store, a->parts.store },
        [FROM_EVENTS] = { of_events, a->parts.events },
        [FROM_PUSHES] = { of_pushes, p->pushes },
    };

    for (int i = 0; i < METRIC_SOURCES; i++)
        a->metrics_from[i] = all[i];
}
