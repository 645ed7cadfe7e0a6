/* SPDX-License-Identifier: MIT */
/* event_line.h - an event as one line of JSON in BlueKing's format: process events
 * ({"data_id": 1100008, "data": [{...}]}), or the heartbeat format when an agent is lost.  Our own
 * kinds have the same form with data_id 0 (or the process's report_id): they are for readers of
 * the file, not for BlueKing's data id. */
#ifndef SERVER_EVENTS_EVENT_LINE_H
#define SERVER_EVENTS_EVENT_LINE_H

#include <stdbool.h>

#include "base/mem/buf.h"
#include "store/store_events.h"

enum { EVENT_DATA_ID = 1100008 }; /* of BlueKing's process events */

extern const char event_lost_name[], event_back_name[];

/* BlueKing has no format for an agent that is back, nor for events of the server itself. */
bool event_line_has(const struct event_row *row);

/* Appends it without the newline. */
void event_line_write(const struct event_row *row, struct buf *to);

#endif
