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

/* Of a host that is known; of one that is not (NULL) it is only logged. */
void events_put(struct events *e, const struct fleet_host *host, const struct message_event *event);

/* As one line of JSON without the newline: what is written to the file. */
void events_write(const struct fleet_host *host, const struct message_event *event, struct buf *to);

#endif
