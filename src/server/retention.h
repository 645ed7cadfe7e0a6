/* SPDX-License-Identifier: MIT */
/* retention.h - the time by which old things are removed.
 *
 * It is the wall clock's, as long as that goes on from where it was.  A clock that is more
 * than an hour ahead of there, at a start or while we run, may be wrong, and by a wrong one
 * all would be removed: it is believed when it has stayed so for a day of our running.  Until
 * then nothing new grows old.  A clock that was put back is believed at once, as that only
 * keeps things longer.
 *
 * What was believed last is in the store, so a restart does not shorten the day.  Here too
 * go those things that are few and nobody else's: join tokens that have ended, and sessions
 * of hosts that are no more, a month later. */
#ifndef SERVER_RETENTION_H
#define SERVER_RETENTION_H

#include "base/log.h"
#include "base/loop.h"
#include "store/store_retention.h"

struct retention;

struct retention *retention_new(struct loop *loop, struct log *log, struct store *store);
void retention_free(struct retention *r); /* NULL is fine; before the store is closed */

/* Blocks; once, before the loop runs. */
int retention_load(struct retention *r, struct err *err);

/* Wall time that is believed; without any of this, what the clock says. */
int64_t retention_now_ms(const struct retention *r, const struct clock *clock);

/* The rule: what to believe when the clock shows this, so much time after it was last looked
 * at. */
void retention_step(struct retention_row *row, int64_t wall_ms, int64_t passed_ms);

#endif
