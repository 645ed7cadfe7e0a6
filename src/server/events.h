/* SPDX-License-Identifier: MIT */
/* events.h - what happened on hosts, for those who watch them.
 *
 * An event that an agent tells, or that is the server's own, is stored, many in one
 * transaction; then written to the file (event_file.h), and told to who listens; and its
 * agent hears that it may forget it.  Whatever dies on the way, none is lost: an agent says
 * again what it was not told is stored.
 *
 * A store that fails is tried again with what waits.  That is bounded: when it is full agents
 * keep theirs.  The oldest are forgotten by age and by number, a few at a time. */
#ifndef SERVER_EVENTS_H
#define SERVER_EVENTS_H

#include "base/log.h"
#include "base/loop.h"
#include "link/message.h"
#include "server/fleet.h"
#include "server/retention.h"
#include "store/store_events.h"

struct events;

struct events_settings {
    const char *file;                    /* "": none */
    const char *node;                    /* the name of this server among several */
    int64_t days, rows_max;              /* how long and how many are kept; 0: 30, 1,000,000 */
    int64_t host_burst, host_per_minute; /* of one host; 0: 2000, 60 */
    const struct retention *retention;   /* NULL: their age goes by the clock alone */
};

int events_new(struct loop *loop, struct log *log, struct store *store,
               const struct events_settings *s, struct events **ret, struct err *err);

/* Where it was when the server ended; blocks, once, before the loop runs.  The fleet must
 * be there until events_stop(). */
int events_load(struct events *e, const struct fleet *fleet, struct err *err);

int events_reopen(struct events *e, struct err *err); /* the file */

/* The loop has ended: what waits is stored and written, if it can be.  Blocks. */
void events_stop(struct events *e); /* NULL is fine */
void events_free(struct events *e); /* stopped, or the store closed; NULL is fine */

/* ---- from agents */

/* Of a host that is known; of one that is not (NULL) it is only logged. */
void events_on_message(struct events *e, const struct fleet_host *host, const char *agent_id,
                       const struct message_event *event);

/* Told when all of an agent's events up to this number are stored; fn NULL: nobody. */
typedef void events_stored_fn(void *arg, const char *agent_id, int64_t id);
void events_set_stored(struct events *e, events_stored_fn *fn, void *arg);

void events_forget_gone(struct events *e); /* what it knows of hosts that were removed */

/* ---- of the server itself */

enum event_own {
    EVENT_CLONE,   /* two connections with one identity */
    EVENT_ADDRESS, /* somebody wants the address of another */
    EVENT_LOST,    /* an agent is away for too long */
    EVENT_BACK,
    EVENT_LEFT_OUT, /* it told too many */
    EVENT_STORE,    /* the store failed */
    EVENT_OWNS
};
extern const char *const event_own_names[EVENT_OWNS];

/* Of a host, or of the server (NULL).  Those that others can cause again and again are not
 * told each time. */
void events_tell(struct events *e, const struct fleet_host *host, enum event_own what,
                 const char *text);

/* ---- for who watches us */

enum { EVENT_KINDS_MAX = 40 }; /* more than event_kinds has; the last: not among them */
struct events_counters {
    int64_t waiting; /* to be stored */
    uint64_t by_kind[EVENT_KINDS_MAX];
};
const struct events_counters *events_counters(struct events *e); /* as of now */

/* ---- to listeners */

/* Called with those that were stored, in order. */
typedef void events_told_fn(void *arg, const struct event_row *rows, size_t n);
void events_set_told(struct events *e, events_told_fn *fn, void *arg); /* fn NULL: nobody */
int64_t events_last(const struct events *e); /* the seq of the last that was told */

/* Agents that were lost when the server ended (struct lost_row); good until events_free(). */
const struct list *events_lost(const struct events *e);

#endif
