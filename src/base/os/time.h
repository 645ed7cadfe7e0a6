/* SPDX-License-Identifier: MIT */
/* time.h - clocks and time formats.
 *
 * Everything that waits takes a clock, so that a test or a simulator can inject its own.
 * Durations and deadlines are monotonic milliseconds; wall time is only for people and for the
 * wire. */
#ifndef BASE_OS_TIME_H
#define BASE_OS_TIME_H

#include <stdint.h>

struct clock {
    int64_t (*mono_ms)(const struct clock *c);
    int64_t (*wall_ms)(const struct clock *c); /* since 1970, UTC */
    int64_t (*mono_us)(const struct clock *c); /* NULL: the clock has no finer time than mono_ms */
};

extern const struct clock clock_system;

/* A clock for tests: it returns `mono` and `wall`, which the test sets. */
struct clock_fake {
    struct clock clock;
    int64_t mono, wall;
};
void clock_fake_init(struct clock_fake *f, int64_t mono_ms, int64_t wall_ms);

static inline int64_t clock_mono_ms(const struct clock *c)
{
    return c->mono_ms(c);
}

static inline int64_t clock_wall_ms(const struct clock *c)
{
    return c->wall_ms(c);
}

/* For measuring durations; no deadline uses it.  time_mono_us() reads the system's clock. */
static inline int64_t clock_mono_us(const struct clock *c)
{
    return c->mono_us ? c->mono_us(c) : (int64_t)((uint64_t)c->mono_ms(c) * 1000);
}
int64_t time_mono_us(void);

/* "2026-11-15T05:47:53.123Z", and "Sun, 15 Nov 2026 05:47:53 GMT" for HTTP. */
enum { TIME_TEXT_SIZE = 40 };
void time_iso(int64_t wall_ms, char to[TIME_TEXT_SIZE]);
void time_http(int64_t wall_ms, char to[TIME_TEXT_SIZE]);

/* The offset of local time from UTC at that moment, in seconds.  The time zone is read once,
 * from TZ or /etc/localtime, and again by time_zone_read(). */
int64_t time_zone_offset_s(int64_t at_s);
void time_zone_read(void);

#endif
