/* SPDX-License-Identifier: MIT */
/* event_line.h - an event in the format of BlueKing, one line of JSON: that of processes
 * ({"data_id": 1100008, "data": [{...}]}), or the heartbeat's where an agent is lost. */
#ifndef SERVER_EVENT_LINE_H
#define SERVER_EVENT_LINE_H

#include <stdbool.h>

#include "base/buf.h"
#include "store/store_events.h"

extern const char event_lost_name[], event_back_name[];

/* BlueKing has no word for an agent that is back, nor for what happens to the server. */
bool event_line_has(const struct event_row *row);

/* Appends it without the newline. */
void event_line_write(const struct event_row *row, struct buf *to);

#endif
