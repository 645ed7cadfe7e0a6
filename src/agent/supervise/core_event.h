/* SPDX-License-Identifier: MIT */
/* core_event.h - events that wait until the server has stored them.  For the core's own sources.
 *
 * An event is in the journal and in this queue until the server acknowledges it.  Unacknowledged
 * events are resent with the next session or after a timeout, so the server may receive an event
 * twice.  It recognises duplicates by the id, which increases across restarts of the agent.  The
 * queue is limited: the oldest events are dropped first, and one event in their place says how
 * many.  The last events that the server has stored are kept in memory, to be shown on the host. */
#ifndef AGENT_SUPERVISE_CORE_EVENT_H
#define AGENT_SUPERVISE_CORE_EVENT_H

#include <sys/queue.h>

#include "base/io/timers.h"
#include "link/message.h"

enum { EVENTS_MAX = 2000, EVENTS_STORED_MAX = 300 };

struct core;
struct proc;
struct untold;

struct event_queue {
    TAILQ_HEAD(untold_list, untold) all; /* oldest first */
    struct untold_list stored;           /* by the server, as shown to people; oldest first */
    size_t n_stored;
    size_t n, max;    /* without the event that stands for dropped ones */
    int64_t last_id;  /* the last id assigned */
    int64_t sent_id;  /* all events up to this id have been sent */
    size_t window;    /* maximum number of unacknowledged events */
    int64_t again_ms; /* resend interval */
    struct timer timer;
};

/* Journal record: events up to `id` were dropped. */
struct event_gap {
    int64_t id, lost, wall_ms;
};
extern const struct shape event_gap_shape;

void event_begin(struct core *c);
void event_end(struct core *c);
void event_start(struct core *c);   /* after the journal has been replayed */
void event_welcome(struct core *c); /* a session begins: sends all waiting events */
void event_stored(struct core *c, int64_t id);
void event_compact(struct core *c);

/* Replay of journal records. */
void event_replay(struct core *c, const struct message_event *e);
void event_replay_gap(struct core *c, const struct event_gap *gap);
void event_replay_last(struct core *c, int64_t id);

/* An event about the agent itself. */
void core_tell_own_event(struct core *c, const char *name, const char *text);
void core_tell_event(struct proc *k, const char *name, const char *fmt, ...) MSG_FORMAT(3, 4);

#endif
