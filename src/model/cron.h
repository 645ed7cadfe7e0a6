/* SPDX-License-Identifier: MIT */
/* cron.h - the schedule of a periodic process: the five fields of cron, in the host's time zone.
 *
 * The fields are minute, hour, day of month, month and day of week, with lists, ranges, steps and
 * names (jan, sun); 7 is sunday too.  If both days are restricted, either one matches, as in cron;
 * a field that starts with `*` does not restrict.  Also @hourly, @daily, @midnight, @weekly,
 * @monthly, @yearly and @annually.
 *
 * When clocks are set forward, a run at a fixed hour that is skipped happens once, at the end of
 * the skipped time.  When clocks are set back, a run at a fixed hour happens once, the first time.
 * A rule whose hour field starts with `*` follows the clock: it does not run in a skipped hour, and
 * runs in both copies of a repeated one. */
#ifndef MODEL_CRON_H
#define MODEL_CRON_H

#include <stdbool.h>
#include <stdint.h>

struct cron {
    uint64_t minutes;
    uint32_t hours, days, months, weekdays; /* bit n: n matches */
    bool any_day, any_weekday, every_hour;  /* the field starts with `*` */
};

/* Returns NULL, or what is wrong ("minute: 61 is more than 59"), valid until the next call on this
 * thread.  "" is no rule and right. */
const char *cron_check(const char *rule);

/* `rule` must have passed cron_check() and not be "". */
void cron_read(const char *rule, struct cron *ret);

/* The first time after after_s, in seconds since 1970; INT64_MAX: never (february 30). */
int64_t cron_next(const struct cron *c, int64_t after_s);

#endif
