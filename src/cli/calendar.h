/* SPDX-License-Identifier: MIT */
/* calendar.h - calendar events of systemd timers (systemd.time(7)) as rules of cron. */
#ifndef CLI_CALENDAR_H
#define CLI_CALENDAR_H

#include <stdbool.h>

#include "base/mem/buf.h"

/* Appends the five fields of cron that mean the same as "Mon..Fri *-*-* 02:00:00" or "daily".
 * False, with *ret as it was: cron cannot express it (years, seconds, time zones, a day of the week
 * together with a day of the month), or it is no calendar event. */
bool calendar_to_cron(const char *event, struct buf *ret);

/* Reads a span of time of systemd in whole seconds, rounded up: "90", "1min 30s", "500ms",
 * "infinity" is -1. */
bool calendar_span(const char *text, int64_t *ret_s);

#endif
