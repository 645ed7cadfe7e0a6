/* SPDX-License-Identifier: MIT */
/* event_speaker.c - see event_speaker.h. */
#include "server/event_speaker.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* An event costs as much as comes back in a minute, divided by how many that are: so all
 * numbers are whole, whatever the limits. */
enum { COST = 60 * 1000 };

void speakers_init(struct speakers *s, const struct speaker_limits *limits)
{
    *s = (struct speakers){ .limits = *limits };
    TAILQ_INIT(&s->flooding);
}

void speakers_done(struct speakers *s)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&s->all, &at));)
        free(e->value);
    map_free(&s->all);
    TAILQ_INIT(&s->flooding);
}

struct speaker *speakers_find(const struct speakers *s, const char *agent_id)
{
    return map_find_str(&s->all, agent_id);
}

struct speaker *speakers_get(struct speakers *s, const char *agent_id)
{
    struct speaker *who = speakers_find(s, agent_id);
    size_t size = strlen(agent_id) + 1;

    if (who)
        return who;
    who = xalloc(sizeof(*who) + size);
    memcpy(who->agent_id, agent_id, size);
    map_put_str(&s->all, who->agent_id, who);
    return who;
}

void speakers_del(struct speakers *s, struct speaker *who)
{
    if (who->left_out)
        TAILQ_REMOVE(&s->flooding, who, link);
    map_del_str(&s->all, who->agent_id);
    free(who);
}

enum speaker_place speaker_place(int64_t last, const struct message_event *event)
{
    if (event->after < 0)
        return SPEAKER_NEXT; /* an agent of before, which says each once */
    if (event->id <= last)
        return SPEAKER_KNOWN;
    return event->after > last ? SPEAKER_EARLY : SPEAKER_NEXT;
}

/* What comes back with time. */
static void recover(const struct speakers *s, struct speaker *who, int64_t now_ms)
{
    int64_t passed_ms = now_ms - who->spent_ms;

    who->spent_ms = now_ms;
    if (passed_ms > who->spent / s->limits.per_minute)
        who->spent = 0;
    else
        who->spent -= passed_ms * s->limits.per_minute;
}

bool speaker_may(struct speakers *s, struct speaker *who, int64_t now_ms)
{
    recover(s, who, now_ms);
    if (!who->left_out && who->spent + COST <= s->limits.burst * COST) {
        who->spent += COST;
        return true;
    }
    if (!who->left_out++) {
        who->flood_ms = now_ms;
        TAILQ_INSERT_TAIL(&s->flooding, who, link);
    }
    return false;
}

struct speaker *speakers_take_flooding(struct speakers *s, int64_t now_ms, bool all,
                                       int64_t *ret_left_out)
{
    struct speaker *who = TAILQ_FIRST(&s->flooding);

    if (!who || (!all && now_ms - who->flood_ms < SPEAKER_FLOOD_MS))
        return NULL;
    TAILQ_REMOVE(&s->flooding, who, link);
    *ret_left_out = who->left_out;
    who->left_out = 0;
    return who;
}

bool speaker_topic(struct speaker *who, enum speaker_topic topic, int64_t now_ms, int64_t *ret_more)
{
    int64_t *last_ms = &who->topic_ms[topic], *more = &who->topic_more[topic];

    if (*last_ms && now_ms - *last_ms < SPEAKER_AGAIN_MS) {
        ++*more;
        return false;
    }
    *last_ms = now_ms;
    *ret_more = *more;
    *more = 0;
    return true;
}
