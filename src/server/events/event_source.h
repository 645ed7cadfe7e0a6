/* SPDX-License-Identifier: MIT */
/* event_source.h - one agent as a source of events: its position and its rate limit.  Pure: time
 * is an argument.
 *
 * Events are accepted in order and once each: the agent numbers them and names the predecessor of
 * each.  When an agent sends too many, the rest is counted and dropped for a minute, then one
 * event reports the count, so one agent cannot fill the store or the file. */
#ifndef SERVER_EVENTS_EVENT_SOURCE_H
#define SERVER_EVENTS_EVENT_SOURCE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/mem/map.h"
#include "link/message.h"

enum { EVENT_SOURCE_FLOOD_MS = 60 * 1000, EVENT_SOURCE_AGAIN_MS = 10 * 60 * 1000 };

/* Events that the server makes about an agent, rate-limited per topic. */
enum event_source_topic {
    EVENT_SOURCE_CLONE,
    EVENT_SOURCE_ADDRESS,
    EVENT_SOURCE_ELSEWHERE,
    EVENT_SOURCE_TOPICS
};

struct event_source_limits {
    int64_t burst, per_minute;
};

struct event_source {
    int64_t queued, stored;  /* last accepted; last in the store, or dropped */
    int64_t told;            /* last acknowledged to the agent */
    int64_t pending;         /* events at the store */
    int64_t spent, spent_ms; /* used part of the burst, in 60000ths; as of when */
    int64_t left_out, flood_ms;
    int64_t topic_ms[EVENT_SOURCE_TOPICS], topic_more[EVENT_SOURCE_TOPICS];
    TAILQ_ENTRY(event_source) link; /* in `flooding`, if left_out is not 0 */
    char agent_id[];
};

TAILQ_HEAD(event_source_list, event_source);

struct event_sources {
    struct map all; /* by agent id */
    struct event_source_limits limits;
    struct event_source_list flooding; /* oldest flood first */
};

void event_sources_init(struct event_sources *s, const struct event_source_limits *limits);
void event_sources_done(struct event_sources *s);
struct event_source *event_sources_get(struct event_sources *s, const char *agent_id);
struct event_source *event_sources_find(const struct event_sources *s,
                                        const char *agent_id); /* NULL: none */
void event_sources_del(struct event_sources *s, struct event_source *source);

/* The position of an event relative to `last`, the last accepted one. */
enum event_source_place {
    EVENT_SOURCE_NEXT,  /* the next one: accept it */
    EVENT_SOURCE_KNOWN, /* accepted before */
    EVENT_SOURCE_EARLY, /* its predecessor is missing; the agent repeats both */
};
enum event_source_place event_source_place(int64_t last, const struct message_event *event);

/* Whether one more event is allowed; otherwise it is counted as dropped. */
bool event_source_may(struct event_sources *s, struct event_source *source, int64_t now_ms);

/* The next source whose drop count is due for an event, and the count, which is reset.  NULL: none.
 * `all`: also those that are not due yet. */
struct event_source *event_sources_take_flooding(struct event_sources *s, int64_t now_ms, bool all,
                                                 int64_t *ret_left_out);

/* Whether an event of this topic is allowed now, and how many were suppressed since the last. */
bool event_source_topic(struct event_source *source, enum event_source_topic topic, int64_t now_ms,
                        int64_t *ret_more);

#endif
