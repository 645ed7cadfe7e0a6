/* SPDX-License-Identifier: MIT */
/* event_speaker.h - one agent as it tells events: where it is with them, and how many it may
 * tell.  Pure: time is an argument.
 *
 * Its events are taken in their order, each once: it numbers them, and says which one was
 * before.  Of one that tells too many the rest is counted and left out for a minute, then
 * one event says how many that were; so it fills neither the store nor the file for others. */
#ifndef SERVER_EVENT_SPEAKER_H
#define SERVER_EVENT_SPEAKER_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/map.h"
#include "link/message.h"

enum { SPEAKER_FLOOD_MS = 60 * 1000, SPEAKER_AGAIN_MS = 10 * 60 * 1000 };

/* What the server itself tells of an agent, and not again for a while. */
enum speaker_topic { SPEAKER_CLONE, SPEAKER_ADDRESS, SPEAKER_TOPICS };

struct speaker_limits {
    int64_t burst, per_minute;
};

struct speaker {
    int64_t queued, stored;  /* all up to it were taken; and are in the store, or left out */
    int64_t told;            /* the agent was told that they are stored */
    int64_t pending;         /* events of it on their way to the store */
    int64_t spent, spent_ms; /* of the burst, in 60000ths; as of when */
    int64_t left_out, flood_ms;
    int64_t topic_ms[SPEAKER_TOPICS], topic_more[SPEAKER_TOPICS];
    TAILQ_ENTRY(speaker) link; /* of those with left_out */
    char agent_id[];
};

TAILQ_HEAD(speaker_list, speaker);

struct speakers {
    struct map all; /* by agent id */
    struct speaker_limits limits;
    struct speaker_list flooding; /* who began first, first */
};

void speakers_init(struct speakers *s, const struct speaker_limits *limits);
void speakers_done(struct speakers *s);
struct speaker *speakers_get(struct speakers *s, const char *agent_id);
struct speaker *speakers_find(const struct speakers *s, const char *agent_id); /* NULL: none */
void speakers_del(struct speakers *s, struct speaker *who);

/* Where an event of an agent stands, of which all up to `last` have been taken. */
enum speaker_place {
    SPEAKER_NEXT,  /* it is its turn */
    SPEAKER_KNOWN, /* it was taken before */
    SPEAKER_EARLY, /* one before it is missing, and will be said again, as this one */
};
enum speaker_place speaker_place(int64_t last, const struct message_event *event);

/* Whether one more may be told; else it is counted as left out. */
bool speaker_may(struct speakers *s, struct speaker *who, int64_t now_ms);

/* The next one of whom it is time to say that events were left out, with how many; it begins
 * anew then.  NULL: none.  `all`: be it time or not. */
struct speaker *speakers_take_flooding(struct speakers *s, int64_t now_ms, bool all,
                                       int64_t *ret_left_out);

/* Whether the server may tell this of it now, and how often it could not since. */
bool speaker_topic(struct speaker *who, enum speaker_topic topic, int64_t now_ms,
                   int64_t *ret_more);

#endif
