/* SPDX-License-Identifier: MIT */
/* core_event.h - events that wait until the server has them, for the core's own sources.
 *
 * An event is in the journal and in this queue until the server says that it has it.
 * What is sent and not acknowledged is sent again, with the next session or after a
 * while, so it may come twice: its id, which counts up over all our lives, tells.  The
 * queue has an end: the oldest go first, and an event in their place says how many. */
#ifndef AGENT_CORE_EVENT_H
#define AGENT_CORE_EVENT_H

#include <sys/queue.h>

#include "base/timers.h"
#include "link/message.h"

enum { EVENTS_MAX = 1000 };

struct core;
struct kept;
struct untold;

struct event_queue {
    TAILQ_HEAD(, untold) all; /* oldest first */
    size_t n, max;            /* without the one that stands for those that were lost */
    int64_t last_id;          /* that was given */
    int64_t sent_id;          /* all up to this one are on their way */
    size_t window;            /* how many may be at once */
    int64_t again_ms;         /* after this long they are sent again */
    struct timer timer;
};

/* For the journal: those up to `id` that were dropped. */
struct event_gap {
    int64_t id, lost, wall_ms;
};
extern const struct shape event_gap_shape;

void event_begin(struct core *c);
void event_end(struct core *c);
void event_start(struct core *c);   /* the journal has been read */
void event_welcome(struct core *c); /* a session begins: all that wait */
void event_stored(struct core *c, int64_t id);
void event_compact(struct core *c);

/* What the journal has. */
void event_replay(struct core *c, const struct message_event *e);
void event_replay_gap(struct core *c, const struct event_gap *gap);
void event_replay_last(struct core *c, int64_t id);

void core_tell_own_event(struct core *c, const char *name, const char *text); /* of the agent */
void core_tell_event(struct kept *k, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
