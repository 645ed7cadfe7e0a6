/* SPDX-License-Identifier: MIT */
/* retention.h - the time by which old things are removed.
 *
 * It is the wall clock as long as that advances normally.  A clock that jumps forward by more than
 * an hour, at a start or while we run, may be wrong, and a wrong clock would remove everything: it
 * is accepted after it has stayed so for a day of running.  Until then nothing more expires.  A
 * clock that was set back is accepted at once, because that only keeps things longer.
 *
 * The last accepted time is in the store, so a restart does not shorten the day.  This module also
 * removes expired join tokens, and sessions of removed hosts, after a month. */
#ifndef SERVER_FLEET_RETENTION_H
#define SERVER_FLEET_RETENTION_H

#include "base/io/log.h"
#include "base/io/loop.h"
#include "store/store_retention.h"

struct retention;

struct retention *retention_new(struct loop *loop, struct log *log, struct store *store);
void retention_free(struct retention *r); /* NULL is allowed; before the store is closed */

/* Blocks; once, before the loop runs. */
int retention_load(struct retention *r, struct err *err);

/* The accepted wall time; with `r` NULL, the clock's. */
int64_t retention_now_ms(const struct retention *r, const struct clock *clock);

/* The rule: the time to accept when the clock shows this, so much time after the last check. */
void retention_step(struct retention_row *row, int64_t wall_ms, int64_t passed_ms);

#endif
