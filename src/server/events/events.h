/* SPDX-License-Identifier: MIT */
/* events.h - events of hosts and of the server.
 *
 * An event is stored, many in one transaction; then it is written to the file (event_file.h),
 * sent to listeners, and acknowledged to its agent.  None is lost, whatever is killed on the way:
 * an agent repeats what was not acknowledged.
 *
 * When the store fails, waiting events are retried.  Their number is bounded; beyond it agents
 * keep theirs.  The oldest rows are removed by age and by number, a few at a time. */
#ifndef SERVER_EVENTS_EVENTS_H
#define SERVER_EVENTS_EVENTS_H

#include "base/io/log.h"
#include "base/io/loop.h"
#include "link/message.h"
#include "server/fleet/fleet.h"
#include "server/fleet/retention.h"
#include "store/store_events.h"

struct events;

struct events_settings {
    const char *file;                    /* "": none */
    const char *node;                    /* the name of this server node */
    int64_t days, rows_max;              /* retention by age and number; 0: 30, 1,000,000 */
    int64_t host_burst, host_per_minute; /* rate limit per host; 0: 2000, 60 */
    const struct retention *retention;   /* NULL: age by the clock alone */
};

int events_new(struct loop *loop, struct log *log, struct store *store,
               const struct events_settings *s, struct events **ret, struct err *err);

/* Loads positions from the store; blocks; once, before the loop runs.  The fleet must exist until
 * events_stop(). */
int events_load(struct events *e, const struct fleet *fleet, struct err *err);

int events_reopen(struct events *e, struct err *err); /* the file */

/* Stores and writes what waits, if possible, after the loop has ended.  Blocks. */
void events_stop(struct events *e); /* NULL is fine */
void events_free(struct events *e); /* stopped, or the store closed; NULL is fine */

/* ---- from agents */

/* An event of a known host; for an unknown one (NULL) it is only logged. */
void events_on_message(struct events *e, const struct fleet_host *host, const char *agent_id,
                       const struct message_event *event);

/* Called when all events of an agent up to this number are stored; fn NULL: no callback. */
typedef void events_stored_fn(void *arg, const char *agent_id, int64_t id);
void events_set_stored(struct events *e, events_stored_fn *fn, void *arg);

void events_forget_gone(struct events *e); /* drop the positions of removed hosts */

/* ---- of the server itself */

enum event_own {
    EVENT_CLONE,     /* two connections with one identity */
    EVENT_ADDRESS,   /* a host claims the address of another */
    EVENT_ELSEWHERE, /* an agent joined from another address than it says */
    EVENT_REFUSED,   /* it was refused as the host that is expected at an address */
    EVENT_LOST,      /* an agent is offline for too long */
    EVENT_BACK,
    EVENT_LEFT_OUT, /* an agent sent too many events */
    EVENT_STORE,    /* the store failed */
    EVENT_OWNS
};
extern const char *const event_own_names[EVENT_OWNS];

/* An event about a host, or about the server (NULL).  Kinds that a client can cause repeatedly are
 * rate-limited. */
void events_tell(struct events *e, const struct fleet_host *host, enum event_own what,
                 const char *text);

/* An event about an address without a host; rate-limited per address. */
void events_tell_at(struct events *e, const char *place, enum event_own what, const char *text);

/* ---- for metrics */

enum { EVENT_KINDS_MAX = 40 }; /* more than event_kinds has; the last one counts unknown kinds */
struct events_counters {
    int64_t waiting; /* events that are not stored yet */
    uint64_t by_kind[EVENT_KINDS_MAX];
};
const struct events_counters *events_counters(struct events *e); /* as of now */

/* ---- to listeners */

/* Called with newly stored events, in order. */
typedef void events_told_fn(void *arg, const struct event_row *rows, size_t n);
void events_set_told(struct events *e, events_told_fn *fn, void *arg); /* fn NULL: no callback */
int64_t events_last(const struct events *e); /* the seq of the last event passed to the callback */

/* Agents that were lost when the server stopped (struct lost_row); valid until events_free(). */
const struct list *events_lost(const struct events *e);

#endif
