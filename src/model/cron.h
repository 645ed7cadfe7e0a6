/* SPDX-License-Identifier: MIT */
/* cron.h - when a periodic process runs: the five fields of cron, in the host's time zone.
 *
 * minute hour day-of-month month day-of-week; lists, ranges, steps, names (jan, sun), 7 is
 * sunday too.  Where both days are restricted either will do, as in cron; a field that
 * begins with `*` restricts nothing in that sense.  @hourly, @daily, @midnight, @weekly,
 * @monthly, @yearly, @annually.
 *
 * When clocks are set forward, what runs at a fixed hour that is left out runs at its end,
 * once.  When they are set back, what runs at a fixed hour runs once, the first time.  What
 * runs every hour or more often (an hour field that begins with `*`) goes by the clock: not
 * in the hour that is left out, and in both of the two. */
#ifndef MODEL_CRON_H
#define MODEL_CRON_H

#include <stdbool.h>
#include <stdint.h>

struct cron {
    uint64_t minutes;
    uint32_t hours, days, months, weekdays; /* bit n: n fits */
    bool any_day, any_weekday, every_hour;  /* the field begins with `*` */
};

/* NULL, or what is wrong ("minute: 61 is more than 59"), good until this thread asks again;
 * "" is fine: no rule. */
const char *cron_check(const char *rule);

/* `rule` has been checked and is not "". */
void cron_read(const char *rule, struct cron *ret);

/* The first time after this, in seconds since 1970; INT64_MAX: never (february 30). */
int64_t cron_next(const struct cron *c, int64_t after_s);

#endif
