/* SPDX-License-Identifier: MIT */
/* time.c - see time.h. */
#include "base/os/time.h"

#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts); /* cannot fail for these two clocks */
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t system_mono(const struct clock *c)
{
    (void)c;
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t system_wall(const struct clock *c)
{
    (void)c;
    return read_clock(CLOCK_REALTIME);
}

int64_t time_mono_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t system_mono_us(const struct clock *c)
{
    (void)c;
    return time_mono_us();
}

const struct clock clock_system = { system_mono, system_wall, system_mono_us };

static int64_t fake_mono(const struct clock *c)
{
    return ((const struct clock_fake *)c)->mono;
}

static int64_t fake_wall(const struct clock *c)
{
    return ((const struct clock_fake *)c)->wall;
}

void clock_fake_init(struct clock_fake *f, int64_t mono_ms, int64_t wall_ms)
{
    *f = (struct clock_fake){ { fake_mono, fake_wall }, mono_ms, wall_ms };
}

/* Whole seconds and the remaining milliseconds, also before 1970. */
static void time_split(int64_t wall_ms, struct tm *tm, int *ms)
{
    time_t s = (time_t)(wall_ms / 1000);

    *ms = (int)(wall_ms % 1000);
    if (*ms < 0) {
        *ms += 1000;
        s--;
    }
    if (!gmtime_r(&s, tm))
        *tm = (struct tm){ .tm_mday = 1, .tm_year = 70, .tm_wday = 4 };
}

void time_iso(int64_t wall_ms, char to[TIME_TEXT_SIZE])
{
    struct tm tm;
    int ms;

    time_split(wall_ms, &tm, &ms);
    snprintf(to, TIME_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ms);
}

void time_http(int64_t wall_ms, char to[TIME_TEXT_SIZE])
{
    static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    struct tm tm;
    int ms;

    time_split(wall_ms, &tm, &ms);
    snprintf(to, TIME_TEXT_SIZE, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday],
             tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* Returns 0 for a year beyond the range of the C library. */
int64_t time_zone_offset_s(int64_t at_s)
{
    time_t at = (time_t)at_s;
    struct tm tm;

    return localtime_r(&at, &tm) ? tm.tm_gmtoff : 0;
}

void time_zone_read(void)
{
    tzset();
}
