/* SPDX-License-Identifier: MIT */
/* events.h - what happened on hosts, for those who watch them: one JSON object a line
 * in a file, in BlueKing's format ({"data_id": 1100008, "data": [{...}]}), opened again
 * on SIGHUP like the log. */
#ifndef SERVER_EVENTS_H
#define SERVER_EVENTS_H

#include "base/log.h"
#include "link/message.h"
#include "server/fleet.h"

struct events;

/* `path` "": nowhere. */
int events_new(const char *path, struct log *log, struct events **ret, struct err *err);
void events_free(struct events *e); /* NULL is fine */
int events_reopen(struct events *e, struct err *err);

/* Of a host that is known; of one that is not (NULL) it is only logged.  False: it can not
 * be written, which is in the log; whoever has it may say it again. */
bool events_put(struct events *e, const struct fleet_host *host, const struct message_event *event);

/* Where an event of an agent stands, of which all up to `last` have been taken: its own are
 * taken in their order, each once, whatever becomes of them on the way. */
enum events_place {
    EVENTS_NEXT,  /* it is its turn */
    EVENTS_KNOWN, /* it was taken before */
    EVENTS_EARLY, /* one before it is missing, and will be said again, as this one */
};
enum events_place events_place(int64_t last, const struct message_event *event);

/* As one line of JSON without the newline: what is written to the file. */
void events_write(const struct fleet_host *host, const struct message_event *event, struct buf *to);

#endif
