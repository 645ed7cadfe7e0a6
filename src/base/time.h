/* SPDX-License-Identifier: MIT */
/* time.h - what time it is, and who says so.
 *
 * Everything that waits takes a clock, so that a test or a simulator can hand
 * in its own.  Durations and deadlines are monotonic milliseconds; wall time is
 * only for people and for the wire. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdint.h>

struct clock {
    int64_t (*mono_ms)(const struct clock *c);
    int64_t (*wall_ms)(const struct clock *c); /* since 1970, UTC */
    int64_t (*mono_us)(const struct clock *c); /* NULL: it knows of no finer time */
};

extern const struct clock clock_system;

/* A clock that stands still until it is moved: set the two numbers. */
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

/* To say how long something took; nothing waits by it.  The second is the system's. */
static inline int64_t clock_mono_us(const struct clock *c)
{
    return c->mono_us ? c->mono_us(c) : (int64_t)((uint64_t)c->mono_ms(c) * 1000);
}
int64_t time_mono_us(void);

/* "2026-11-15T05:47:53.123Z", and "Sun, 15 Nov 2026 05:47:53 GMT" for HTTP. */
enum { TIME_TEXT_SIZE = 40 };
void time_iso(int64_t wall_ms, char to[TIME_TEXT_SIZE]);
void time_http(int64_t wall_ms, char to[TIME_TEXT_SIZE]);

/* The zone of this host: what its clocks show less UTC, at that moment.  Which zone that is
 * is read from TZ, or /etc/localtime, once, and again when told. */
int64_t time_zone_offset_s(int64_t at_s);
void time_zone_read(void);

#endif
