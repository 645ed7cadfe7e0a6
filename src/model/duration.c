/* SPDX-License-Identifier: MIT */
/* duration.c - see duration.h. */
#include "model/duration.h"

#include <stdio.h>
#include <time.h>

#include "base/mem/mem.h"
#include "model/phrase.h"
#include "wire/json/field.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

static const int64_t longest_s = (int64_t)36525 * DAY;

enum unit { SECONDS, MINUTES, HOURS, DAYS };

static const char *const phrases[][LANGS] = {
    [SECONDS] = { "{0}s", "{0}秒" },
    [MINUTES] = { "{0}m {1}s", "{0}分{1}秒" },
    [HOURS] = { "{0}h {1}m", "{0}小时{1}分" },
    [DAYS] = { "{0}d {1}h", "{0}天{1}小时" },
};

static void put_two(struct buf *b, enum lang lang, enum unit unit, int64_t large, int64_t small)
{
    char first[24], second[24];

    snprintf(first, sizeof(first), "%lld", (long long)large);
    snprintf(second, sizeof(second), "%lld", (long long)small);
    phrase_put(b, phrases[unit][lang], PHRASE_ARGS(first, second));
}

void duration_put(struct buf *b, enum lang lang, int64_t ms)
{
    int64_t s = ms > 0 ? ms / 1000 : 0, tenth = ms > 0 ? ms % 1000 / 100 : 0;

    if (s < 10 && tenth) {
        char text[24];

        snprintf(text, sizeof(text), "%d.%d", (int)s, (int)tenth);
        phrase_put(b, phrases[SECONDS][lang], PHRASE_ARGS(text));
    } else if (s < MINUTE) {
        put_two(b, lang, SECONDS, s, 0);
    } else if (s < HOUR) {
        put_two(b, lang, MINUTES, s / MINUTE, s % MINUTE);
    } else if (s < DAY) {
        put_two(b, lang, HOURS, s / HOUR, s % HOUR / MINUTE);
    } else {
        put_two(b, lang, DAYS, s / DAY, s % DAY / HOUR);
    }
}

bool duration_read(const char *text, int64_t *ret_s)
{
    int64_t s;

    if (!field_read_units(FIELD_SECONDS, text, &s) || s > longest_s)
        return false;
    *ret_s = s;
    return true;
}

static void put_time(struct buf *b, const char *format, int64_t since_1970_s)
{
    time_t t = (time_t)since_1970_s;
    struct tm parts;
    char text[64];

    if (!localtime_r(&t, &parts) || !strftime(text, sizeof(text), format, &parts))
        snprintf(text, sizeof(text), "%lld", (long long)since_1970_s);
    buf_puts(b, text);
}

void duration_put_date(struct buf *b, int64_t since_1970_s)
{
    put_time(b, "%Y-%m-%d %H:%M", since_1970_s);
}

void duration_put_second(struct buf *b, int64_t since_1970_s)
{
    put_time(b, "%Y-%m-%d %H:%M:%S", since_1970_s);
}
