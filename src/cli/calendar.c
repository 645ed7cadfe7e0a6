/* SPDX-License-Identifier: MIT */
/* calendar.c - see calendar.h. */
#include "cli/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem/mem.h"
#include "model/cron.h"

enum { EVENT_MAX = 200 };

/* ---- parts ---- */

/* A text between two pointers. */
struct piece {
    const char *at, *end;
};

static bool piece_is(struct piece p, const char *text)
{
    return (size_t)(p.end - p.at) == strlen(text) && !strncmp(p.at, text, strlen(text));
}

/* Up to the separator or the end; what follows stays in *rest, whose `at` is NULL after the last.
 */
static struct piece piece_next(struct piece *rest, char separator)
{
    struct piece one = *rest;

    while (one.at < rest->end && *one.at != separator)
        one.at++;
    one = (struct piece){ rest->at, one.at };
    rest->at = one.end < rest->end ? one.end + 1 : NULL;
    return one;
}

static bool piece_number(struct piece *p, int *ret)
{
    int n = 0, digits = 0;

    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9' && digits < 4; p->at++, digits++)
        n = n * 10 + *p->at - '0';
    *ret = n;
    return digits > 0;
}

static bool piece_skip(struct piece *p, const char *text)
{
    size_t n = strlen(text);

    if ((size_t)(p->end - p->at) < n || strncmp(p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

/* "5", "5..9", "0/15", "5..9/2" and "*" with "/15": of a field whose values end at `most`. */
static bool calendar_put_one(struct piece p, int most, struct buf *to)
{
    int first = 0, last = 0, step = 0;
    bool is_any = piece_skip(&p, "*"), has_last = false;

    if (!is_any && !piece_number(&p, &first))
        return false;
    if (!is_any && piece_skip(&p, "..")) {
        has_last = true;
        if (!piece_number(&p, &last))
            return false;
    }
    if (piece_skip(&p, "/") && (!piece_number(&p, &step) || !step))
        return false;
    if (p.at != p.end)
        return false;
    if (is_any)
        buf_puts(to, "*");
    else if (has_last || step)
        buf_printf(to, "%d-%d", first, has_last ? last : most);
    else
        buf_printf(to, "%d", first);
    if (step)
        buf_printf(to, "/%d", step);
    return true;
}

static bool calendar_put_field(struct piece list, int most, struct buf *to)
{
    for (bool is_first = true; list.at; is_first = false) {
        buf_puts(to, is_first ? "" : ",");
        if (!calendar_put_one(piece_next(&list, ','), most, to))
            return false;
    }
    return true;
}

static int calendar_day(struct piece p)
{
    static const char *const days[] = { "sunday",   "monday", "tuesday", "wednesday",
                                        "thursday", "friday", "saturday" };
    size_t n = (size_t)(p.end - p.at);

    for (int i = 0; i < 7; i++) {
        if ((n == 3 || n == strlen(days[i])) && !strncasecmp(p.at, days[i], n))
            return i;
    }
    return -1;
}

/* "Mon", "Mon..Fri", "Mon,Wed"; a range up to Sunday ends at 7. */
static bool calendar_put_days(struct piece list, struct buf *to)
{
    for (bool is_first = true; list.at; is_first = false) {
        struct piece range = piece_next(&list, ','), first = range, last = range;
        const char *dots = NULL;
        int from, until;

        for (const char *c = range.at; c + 1 < range.end; c++)
            dots = !dots && c[0] == '.' && c[1] == '.' ? c : dots;
        first.end = dots ? dots : range.end;
        last.at = dots ? dots + 2 : range.at;
        from = calendar_day(first);
        until = calendar_day(last);
        if (from < 0 || until < 0)
            return false;
        if (dots && !until)
            until = 7;
        if (dots && from > until)
            return false;
        buf_printf(to, dots ? "%s%d-%d" : "%s%d", is_first ? "" : ",", from, until);
    }
    return true;
}

/* ---- the event ---- */

struct event {
    struct buf minute, hour, day, month, weekday;
};

static bool event_read_time(struct piece p, struct event *e)
{
    struct piece hour = piece_next(&p, ':'),
                 minute = p.at ? piece_next(&p, ':') : (struct piece){ NULL, NULL };

    if (!minute.at || (p.at && !piece_is(p, "00") && !piece_is(p, "0")))
        return false;
    return calendar_put_field(hour, 23, &e->hour) && calendar_put_field(minute, 59, &e->minute);
}

/* YEAR-MONTH-DAY or MONTH-DAY; the year must be any. */
static bool event_read_date(struct piece p, struct event *e)
{
    struct piece first = piece_next(&p, '-'), second = p.at ? piece_next(&p, '-') : first;

    if (!second.at || second.at == first.at)
        return false;
    if (!p.at)
        return calendar_put_field(first, 12, &e->month) && calendar_put_field(second, 31, &e->day);
    return piece_is(first, "*") && calendar_put_field(second, 12, &e->month) &&
           calendar_put_field(p, 31, &e->day);
}

static bool event_read(const char *text, struct event *e)
{
    struct piece rest = { text, text + strlen(text) };
    bool has_date = false, has_time = false, has_days = false;

    while (rest.at) {
        struct piece one = piece_next(&rest, ' ');
        size_t n = (size_t)(one.end - one.at);
        bool ok = true;

        if (!n)
            continue;
        if (memchr(one.at, ':', n))
            ok = !has_time && (has_time = true, event_read_time(one, e));
        else if (memchr(one.at, '-', n))
            ok = !has_date && (has_date = true, event_read_date(one, e));
        else
            ok = !has_days && !has_date && !has_time &&
                 (has_days = true, calendar_put_days(one, &e->weekday));
        if (!ok)
            return false;
    }
    if (!has_time)
        buf_puts(&e->minute, "0"), buf_puts(&e->hour, "0");
    if (!has_date)
        buf_puts(&e->day, "*"), buf_puts(&e->month, "*");
    if (!has_days)
        buf_puts(&e->weekday, "*");
    /* Cron runs if either day matches, systemd if both do. */
    return (has_date || has_time || has_days) && (!has_days || !strcmp(buf_text(&e->day), "*"));
}

static const char *calendar_word(const char *text)
{
    static const struct {
        const char *word, *rule;
    } words[] = {
        { "minutely", "* * * * *" },       { "hourly", "0 * * * *" },
        { "daily", "0 0 * * *" },          { "weekly", "0 0 * * 1" },
        { "monthly", "0 0 1 * *" },        { "quarterly", "0 0 1 1,4,7,10 *" },
        { "yearly", "0 0 1 1 *" },         { "annually", "0 0 1 1 *" },
        { "semiannually", "0 0 1 1,7 *" },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!strcasecmp(text, words[i].word))
            return words[i].rule;
    }
    return NULL;
}

bool calendar_to_cron(const char *event, struct buf *ret)
{
    const char *rule = calendar_word(event);
    struct event e = { 0 };
    struct buf made = { 0 };
    bool ok = rule != NULL;

    if (rule) {
        buf_puts(&made, rule);
    } else if (strlen(event) <= EVENT_MAX && event_read(event, &e)) {
        buf_printf(&made, "%s %s %s %s %s", buf_text(&e.minute), buf_text(&e.hour),
                   buf_text(&e.day), buf_text(&e.month), buf_text(&e.weekday));
        ok = !cron_check(buf_text(&made));
    }
    if (ok)
        buf_puts(ret, buf_text(&made));
    buf_free(&made);
    buf_free(&e.minute);
    buf_free(&e.hour);
    buf_free(&e.day);
    buf_free(&e.month);
    buf_free(&e.weekday);
    return ok;
}

/* ---- spans ---- */

/* Milliseconds of a unit; 0: there is no such unit. */
static int64_t calendar_unit(struct piece p)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {
        { "", 1000 },           { "s", 1000 },        { "sec", 1000 },      { "second", 1000 },
        { "seconds", 1000 },    { "ms", 1 },          { "msec", 1 },        { "m", 60000 },
        { "min", 60000 },       { "minute", 60000 },  { "minutes", 60000 }, { "h", 3600000 },
        { "hr", 3600000 },      { "hour", 3600000 },  { "hours", 3600000 }, { "d", 86400000 },
        { "day", 86400000 },    { "days", 86400000 }, { "w", 604800000 },   { "week", 604800000 },
        { "weeks", 604800000 },
    };

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (piece_is(p, units[i].name))
            return units[i].ms;
    }
    return 0;
}

/* Digits with at most three behind a point, in thousandths. */
static bool calendar_thousandths(const char **p, int64_t *ret)
{
    int64_t n = 0, scale = 1000;
    int digits = 0;

    for (; **p >= '0' && **p <= '9' && digits < 9; ++*p, digits++)
        n = n * 10 + **p - '0';
    n *= 1000;
    if (**p == '.') {
        for (++*p; **p >= '0' && **p <= '9' && scale > 1; ++*p)
            n += (**p - '0') * (scale /= 10);
    }
    *ret = n;
    return digits > 0;
}

bool calendar_span(const char *text, int64_t *ret_s)
{
    int64_t total = 0, one, unit; /* total in milliseconds */

    if (!strcmp(text, "infinity")) {
        *ret_s = -1;
        return true;
    }
    if (!*text)
        return false;
    while (*text) {
        struct piece name;

        if (!calendar_thousandths(&text, &one))
            return false;
        text += strspn(text, " \t");
        name = (struct piece){ text, text + strspn(text, "abcdefghijklmnopqrstuvwxyz") };
        unit = calendar_unit(name);
        if (!unit || (name.at == name.end && *text))
            return false; /* only the last number may be without a unit */
        total += one / 1000 * unit + one % 1000 * unit / 1000;
        if (total > INT64_C(1) << 50)
            return false;
        text = name.end + strspn(name.end, " \t");
    }
    *ret_s = (total + 999) / 1000;
    return true;
}
