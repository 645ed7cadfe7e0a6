/* SPDX-License-Identifier: MIT */
/* cron.c - see cron.h.
 *
 * A rule is about local time: seconds since 1970 as if the zone had no offset, called shown time
 * here.  The calendar gives the next matching shown time; the zone says which moment that is, and
 * whether it exists. */
#include "model/cron.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem/mem.h"
#include "base/os/time.h"
#include "base/text/msg.h"

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400, DAY_MINUTES = 1440 };

/* NEAR_S is more than the difference of shown time and UTC and more than one change of a zone's
 * offset, even for an island that crosses the date line.  Two changes are further apart. */
enum { NEAR_S = 2 * DAY_S, FAR_S = 2 * NEAR_S };

/* Years from one 29 February on a given weekday to the next, when a century without a leap day lies
 * between them. */
enum { LEAP_YEARS = 40 };

/* ---- fields */

enum which { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

/* clang-format off */
static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun",
                                           "jul", "aug", "sep", "oct", "nov", "dec", NULL };
static const char *const weekday_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL };

static const struct {
    const char *name;
    int min, max, count;      /* 7 is a second number for sunday, so the count is smaller */
    const char *const *names; /* names of the values from min on; NULL: none */
} fields[FIELDS] = {
    [MINUTE] = { "minute", 0, 59, 60, NULL },
    [HOUR] = { "hour", 0, 23, 24, NULL },
    [DAY] = { "day-of-month", 1, 31, 31, NULL },
    [MONTH] = { "month", 1, 12, 12, month_names },
    [WEEKDAY] = { "day-of-week", 0, 7, 7, weekday_names },
};

static const struct {
    const char *name, *rule;
} forms[] = {
    { "@hourly", "0 * * * *" }, { "@daily", "0 0 * * *" }, { "@midnight", "0 0 * * *" },
    { "@weekly", "0 0 * * 0" }, { "@monthly", "0 0 1 * *" }, { "@yearly", "0 0 1 1 *" },
    { "@annually", "0 0 1 1 *" },
};
/* clang-format on */

struct reader {
    const char *p;
    enum which which;
    char *wrong; /* buffer of WRONG_BYTES; "": no error yet */
};
enum { WRONG_BYTES = 200, SHOWN_MAX = 24 };

static bool cron_is_blank(char ch)
{
    return ch == ' ' || ch == '\t';
}

static bool is_end(char ch)
{
    return !ch || cron_is_blank(ch);
}

/* Length of the item at p, for an error message. */
static int shown(const char *p)
{
    size_t n = strcspn(p, ", \t");

    return n < SHOWN_MAX ? (int)n : SHOWN_MAX;
}

static bool cron_fail(struct reader *r, const char *at, const char *what)
{
    msg_printf(r->wrong, WRONG_BYTES, "%s: \"%.*s\" %s", fields[r->which].name, shown(at), at,
               what);
    return false;
}

static bool fail_range(struct reader *r, long n)
{
    const char *name = fields[r->which].name;
    int min = fields[r->which].min, max = fields[r->which].max;

    if (n < min)
        msg_printf(r->wrong, WRONG_BYTES, "%s: %ld is less than %d", name, n, min);
    else
        msg_printf(r->wrong, WRONG_BYTES, "%s: %ld is more than %d", name, n, max);
    return false;
}

static bool read_digits(struct reader *r, long *ret)
{
    const char *from = r->p;
    long n = 0;

    for (; *r->p >= '0' && *r->p <= '9'; r->p++) {
        if (n < 100000) /* larger values are out of range already */
            n = n * 10 + (*r->p - '0');
    }
    *ret = n;
    return r->p > from;
}

static bool read_name(struct reader *r, long *ret)
{
    const char *const *names = fields[r->which].names;

    for (int i = 0; names && names[i]; i++) {
        if (strncasecmp(r->p, names[i], 3) != 0)
            continue;
        r->p += 3;
        *ret = fields[r->which].min + i;
        return true;
    }
    return false;
}

static bool read_value(struct reader *r, long *ret)
{
    const char *from = r->p;

    if (read_name(r, ret))
        return true;
    if (!read_digits(r, ret))
        return cron_fail(r, from,
                         fields[r->which].names ? MSG("is no number and no name")
                                                : MSG("is no number"));
    if (*ret < fields[r->which].min || *ret > fields[r->which].max)
        return fail_range(r, *ret);
    return true;
}

static bool read_step(struct reader *r, long *ret)
{
    const char *from = r->p;
    int most = fields[r->which].count;

    *ret = 1;
    if (*r->p != '/')
        return true;
    r->p++;
    if (read_digits(r, ret) && *ret >= 1 && *ret <= most)
        return true;
    msg_printf(r->wrong, WRONG_BYTES, "%s: \"%.*s\" must be / and a number from 1 to %d",
               fields[r->which].name, shown(from), from, most);
    return false;
}

/* Reads a value or a range.  A range of weekdays may end with sunday: fri-sun. */
static bool read_range(struct reader *r, long *from, long *to)
{
    const char *item = r->p;

    if (!read_value(r, from))
        return false;
    *to = *from;
    if (*r->p == '/')
        return cron_fail(r, item, MSG("has a step, so it must be a range or *"));
    if (*r->p != '-')
        return true;
    r->p++;
    if (!read_value(r, to))
        return false;
    if (r->which == WEEKDAY && !*to && *from)
        *to = 7;
    return *from <= *to || cron_fail(r, item, MSG("goes backwards"));
}

static bool read_item(struct reader *r, uint64_t *bits)
{
    long from = fields[r->which].min, to = from + fields[r->which].count - 1, step;

    if (*r->p == '*')
        r->p++;
    else if (!read_range(r, &from, &to))
        return false;
    if (!read_step(r, &step))
        return false;
    for (; from <= to; from += step)
        *bits |= UINT64_C(1) << from;
    return true;
}

static bool read_field(struct reader *r, uint64_t *ret)
{
    const char *item;

    for (*ret = 0;; r->p++) {
        item = r->p;
        if (is_end(*item) || *item == ',') {
            msg_printf(r->wrong, WRONG_BYTES, "%s: a value is missing", fields[r->which].name);
            return false;
        }
        if (!read_item(r, ret))
            return false;
        if (*r->p != ',')
            break;
    }
    return is_end(*r->p) || cron_fail(r, item, MSG("is no value, range or step"));
}

/* ---- the whole rule */

static const char *find_form(const char *rule, char *wrong)
{
    size_t n = strcspn(rule, " \t");

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (strlen(forms[i].name) == n && !strncasecmp(rule, forms[i].name, n) &&
            !rule[n + strspn(rule + n, " \t")])
            return forms[i].rule;
    }
    msg_copy(
        wrong, WRONG_BYTES,
        MSG("must be five fields, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly or "
            "@annually"));
    return NULL;
}

/* Whether a month of the rule has a day of the rule, in a leap year. */
static bool has_a_day(const struct cron *c)
{
    static const int days[] = { 0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    for (int month = 1; month <= 12; month++) {
        if ((c->months >> month & 1) && (c->days & ((UINT64_C(2) << days[month]) - 1)))
            return true;
    }
    return false;
}

static void count_fields(const char *rule, char *wrong)
{
    int n = 0;

    for (const char *p = rule; *p; n++) {
        p += strcspn(p, " \t");
        p += strspn(p, " \t");
    }
    if (n == 1)
        msg_copy(wrong, WRONG_BYTES,
                 MSG("has 1 field, must have five: minute hour day-of-month month day-of-week"));
    else if (n != FIELDS)
        msg_printf(wrong, WRONG_BYTES,
                   "has %d fields, must have five: minute hour day-of-month month day-of-week", n);
}

static bool read_fields(const char *rule, uint64_t bits[FIELDS], bool stars[FIELDS], char *wrong)
{
    struct reader r = { .p = rule, .wrong = wrong };

    for (int i = 0; i < FIELDS; i++) {
        r.which = (enum which)i;
        stars[i] = *r.p == '*';
        if (!read_field(&r, &bits[i]))
            return false;
        r.p += strspn(r.p, " \t");
    }
    return true;
}

static bool cron_is_plain(const char *rule)
{
    while ((*rule >= ' ' && *rule <= '~') || *rule == '\t')
        rule++;
    return !*rule;
}

static bool read_rule(const char *rule, struct cron *ret, char *wrong)
{
    uint64_t bits[FIELDS] = { 0 };
    bool stars[FIELDS] = { 0 };

    *wrong = '\0';
    rule += strspn(rule, " \t");
    if (!cron_is_plain(rule)) {
        msg_copy(wrong, WRONG_BYTES, MSG("must have no other characters than those of cron"));
        return false;
    }
    if (*rule == '@')
        rule = find_form(rule, wrong);
    else
        count_fields(rule, wrong);
    if (*wrong || !read_fields(rule, bits, stars, wrong))
        return false;
    *ret = (struct cron){
        .minutes = bits[MINUTE],
        .hours = (uint32_t)bits[HOUR],
        .days = (uint32_t)bits[DAY],
        .months = (uint32_t)bits[MONTH],
        .weekdays = (uint32_t)((bits[WEEKDAY] | bits[WEEKDAY] >> 7) & 0x7f),
        .any_day = stars[DAY],
        .any_weekday = stars[WEEKDAY],
        .every_hour = stars[HOUR],
    };
    return true;
}

/* A check returns a constant text, so the buffer of the message is thread-local. */
const char *cron_check(const char *rule)
{
    static _Thread_local char wrong[WRONG_BYTES];
    struct cron c;

    if (!*rule)
        return NULL;
    if (!read_rule(rule, &c, wrong))
        return wrong;
    return c.any_weekday && !has_a_day(&c) ? MSG("day-of-month: no month it names has such a day")
                                           : NULL;
}

void cron_read(const char *rule, struct cron *ret)
{
    char wrong[WRONG_BYTES];

    *ret = (struct cron){ 0 };
    (void)read_rule(rule, ret, wrong); /* cannot fail: the rule is checked */
}

/* ---- the calendar */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

struct date {
    int64_t year;
    int month, day; /* from 1 */
};

/* Days since 1970 in the proleptic Gregorian calendar.  Years start in march here, so the leap day
 * is the last day of a year; 400 years have 146,097 days. */
static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1, era = floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static struct date date_of(int64_t days)
{
    int64_t era = floor_div(days + 719468, 146097), of_era = days + 719468 - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    int month = (int)(m < 10 ? m + 3 : m - 9);

    return (struct date){ era * 400 + y + (month <= 2), month,
                          (int)(of_year - (153 * m + 2) / 5 + 1) };
}

static int days_in(int64_t year, int month)
{
    return (int)((month == 12 ? days_of(year + 1, 1, 1) : days_of(year, month + 1, 1)) -
                 days_of(year, month, 1));
}

/* Bit n: day n of this month matches. */
static uint32_t fitting_days(const struct cron *c, int64_t year, int month)
{
    int64_t first = days_of(year, month, 1);
    int weekday = (int)(first + 4 - floor_div(first + 4, 7) * 7); /* 1970 began on a thursday */
    int n = days_in(year, month);
    uint32_t by_weekday = 0;

    for (int day = 1; day <= n; day++)
        by_weekday |= (c->weekdays >> (weekday + day - 1) % 7 & 1) << day;
    if (c->any_day || c->any_weekday)
        return by_weekday & c->days;
    return by_weekday | (c->days & (uint32_t)((UINT64_C(2) << n) - 2));
}

/* The first matching day from this one on; INT64_MAX: none. */
static int64_t next_day(const struct cron *c, int64_t days)
{
    struct date d = date_of(days);

    for (int64_t last = d.year + LEAP_YEARS; d.year <= last; d.day = 1) {
        uint32_t fitting = 0;

        if (c->months >> d.month & 1)
            fitting = fitting_days(c, d.year, d.month) >> d.day;
        if (fitting)
            return days_of(d.year, d.month, d.day + __builtin_ctz(fitting));
        if (++d.month > 12) {
            d.month = 1;
            d.year++;
        }
    }
    return INT64_MAX;
}

/* The first matching minute of a day from this one on; -1: none. */
static int next_minute(const struct cron *c, int from)
{
    uint64_t minutes = c->minutes >> from % 60;
    uint32_t hours = c->hours >> from / 60;

    if ((hours & 1) && minutes)
        return from + __builtin_ctzll(minutes);
    hours >>= 1;
    return hours ? (from / 60 + 1 + __builtin_ctz(hours)) * 60 + __builtin_ctzll(c->minutes) : -1;
}

/* The first matching shown time after this one; INT64_MAX: none. */
static int64_t next_shown(const struct cron *c, int64_t after_s)
{
    int64_t minute = floor_div(after_s, MINUTE_S) + 1, days = floor_div(minute, DAY_MINUTES);
    int64_t day = next_day(c, days);
    int at = day == days ? next_minute(c, (int)(minute - days * DAY_MINUTES)) : -1;

    if (day == days && at < 0)
        day = next_day(c, days + 1);
    if (day == INT64_MAX)
        return INT64_MAX;
    return (day * DAY_MINUTES + (at < 0 ? next_minute(c, 0) : at)) * MINUTE_S;
}

/* ---- the zone */

/* The first moment in (from, to] with another offset than `from` has; `to` must have one. */
static int64_t find_change(int64_t from_s, int64_t to_s)
{
    int64_t offset_s = time_zone_offset_s(from_s);

    while (to_s - from_s > 1) {
        int64_t mid_s = from_s + (to_s - from_s) / 2;

        if (time_zone_offset_s(mid_s) == offset_s)
            from_s = mid_s;
        else
            to_s = mid_s;
    }
    return to_s;
}

/* The first moment with this shown time.  If clocks skip it, the moment of the skip. */
static int64_t first_moment(int64_t shown_s)
{
    int64_t from_s = shown_s - NEAR_S, to_s = shown_s + NEAR_S, change_s;
    int64_t before_s = time_zone_offset_s(from_s), after_s = time_zone_offset_s(to_s);

    if (before_s == after_s)
        return shown_s - before_s;
    change_s = find_change(from_s, to_s);
    if (shown_s - before_s < change_s)
        return shown_s - before_s;
    return shown_s - after_s > change_s ? shown_s - after_s : change_s;
}

static int64_t next_at_fixed_hours(const struct cron *c, int64_t after_s)
{
    int64_t shown_s = after_s + time_zone_offset_s(after_s), at_s;

    do {
        shown_s = next_shown(c, shown_s);
        if (shown_s == INT64_MAX)
            return INT64_MAX;
        at_s = first_moment(shown_s);
    } while (at_s <= after_s); /* clocks were set back: it was shown before */
    return at_s;
}

static bool cron_fits(const struct cron *c, int64_t shown_s)
{
    return next_shown(c, shown_s - 1) == shown_s;
}

/* Goes from one change of the offset to the next. */
static int64_t next_by_the_clock(const struct cron *c, int64_t after_s)
{
    for (;;) {
        int64_t offset_s = time_zone_offset_s(after_s);
        int64_t shown_s = next_shown(c, after_s + offset_s), at_s, until_s;

        if (shown_s == INT64_MAX)
            return INT64_MAX;
        at_s = shown_s - offset_s;
        until_s = at_s < after_s + FAR_S ? at_s : after_s + FAR_S;
        if (time_zone_offset_s(until_s) != offset_s) {
            after_s = find_change(after_s, until_s);
            if (cron_fits(c, after_s + time_zone_offset_s(after_s)))
                return after_s;
        } else if (at_s == until_s) {
            return at_s;
        } else {
            after_s = at_s - NEAR_S; /* no earlier moment has a matching shown time */
        }
    }
}

int64_t cron_next(const struct cron *c, int64_t after_s)
{
    return c->every_hour ? next_by_the_clock(c, after_s) : next_at_fixed_hours(c, after_s);
}
