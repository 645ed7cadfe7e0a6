/* SPDX-License-Identifier: MIT */
/* event_source.c - see event_source.h. */
#include "server/events/event_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"

/* An event costs a minute's refill divided by the events per minute, so all numbers are integers
 * for any limit. */
enum { COST = 60 * 1000 };

void event_sources_init(struct event_sources *s, const struct event_source_limits *limits)
{
    *s = (struct event_sources){ .limits = *limits };
    TAILQ_INIT(&s->flooding);
}

void event_sources_done(struct event_sources *s)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&s->all, &at));)
        free(e->value);
    map_free(&s->all);
    TAILQ_INIT(&s->flooding);
}

struct event_source *event_sources_find(const struct event_sources *s, const char *agent_id)
{
    return map_find_str(&s->all, agent_id);
}

struct event_source *event_sources_get(struct event_sources *s, const char *agent_id)
{
    struct event_source *source = event_sources_find(s, agent_id);
    size_t size = strlen(agent_id) + 1;

    if (source)
        return source;
    source = xalloc(sizeof(*source) + size);
    memcpy(source->agent_id, agent_id, size);
    map_put_str(&s->all, source->agent_id, source);
    return source;
}

void event_sources_del(struct event_sources *s, struct event_source *source)
{
    if (source->left_out)
        TAILQ_REMOVE(&s->flooding, source, link);
    map_del_str(&s->all, source->agent_id);
    free(source);
}

enum event_source_place event_source_place(int64_t last, const struct message_event *event)
{
    if (event->after < 0)
        return EVENT_SOURCE_NEXT; /* an older agent, which sends each event once */
    if (event->id <= last)
        return EVENT_SOURCE_KNOWN;
    return event->after > last ? EVENT_SOURCE_EARLY : EVENT_SOURCE_NEXT;
}

/* Refills the burst. */
static void recover(const struct event_sources *s, struct event_source *source, int64_t now_ms)
{
    int64_t passed_ms = now_ms - source->spent_ms;

    source->spent_ms = now_ms;
    if (passed_ms > source->spent / s->limits.per_minute)
        source->spent = 0;
    else
        source->spent -= passed_ms * s->limits.per_minute;
}

bool event_source_may(struct event_sources *s, struct event_source *source, int64_t now_ms)
{
    recover(s, source, now_ms);
    if (!source->left_out && source->spent + COST <= s->limits.burst * COST) {
        source->spent += COST;
        return true;
    }
    if (!source->left_out++) {
        source->flood_ms = now_ms;
        TAILQ_INSERT_TAIL(&s->flooding, source, link);
    }
    return false;
}

struct event_source *event_sources_take_flooding(struct event_sources *s, int64_t now_ms, bool all,
                                                 int64_t *ret_left_out)
{
    struct event_source *source = TAILQ_FIRST(&s->flooding);

    if (!source || (!all && now_ms - source->flood_ms < EVENT_SOURCE_FLOOD_MS))
        return NULL;
    TAILQ_REMOVE(&s->flooding, source, link);
    *ret_left_out = source->left_out;
    source->left_out = 0;
    return source;
}

bool event_source_topic(struct event_source *source, enum event_source_topic topic, int64_t now_ms,
                        int64_t *ret_more)
{
    int64_t *last_ms = &source->topic_ms[topic], *more = &source->topic_more[topic];

    if (*last_ms && now_ms - *last_ms < EVENT_SOURCE_AGAIN_MS) {
        ++*more;
        return false;
    }
    *last_ms = now_ms;
    *ret_more = *more;
    *more = 0;
    return true;
}
