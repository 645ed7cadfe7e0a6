/* SPDX-License-Identifier: MIT */
/* cron.c - times the reckoning of the next run, for bench/agent.
 *
 *     cron RULES REPEATS
 *
 * prints, once a repeat, the CPU nanoseconds that one next run of each of so many rules took
 * on average.  They are asked in a zone whose clocks are set twice a year, from times spread
 * over ten years. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem/mem.h"
#include "base/os/time.h"
#include "model/cron.h"

enum { DAY_S = 86400, FROM_S = 1767225600, DAYS = 3652 };

static int64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Minutes, hours, days, weekdays, months, leap days. */
static void make_rule(long n, struct cron *ret)
{
    static const char *const forms[] = { "%ld * * * *", "%ld 2 * * *",   "%ld 3 1,15 * *",
                                         "%ld 4 * * 1", "%ld 5 13 * 5",  "*/7 %ld * * *",
                                         "0 0 29 2 *",  "%ld 1 31 12 *", "%ld,30 */5 * 3,10 sun" };
    const char *form = forms[(size_t)n % ARRAY_LEN(forms)];
    char rule[64];

    snprintf(rule, sizeof(rule), form, n % 24);
    if (cron_check(rule))
        abort();
    cron_read(rule, ret);
}

static void measure(const struct cron *rules, long n)
{
    int64_t begun_ns = cpu_ns(), sum = 0;

    for (long i = 0; i < n; i++)
        sum += cron_next(&rules[i], FROM_S + i * DAYS / n * DAY_S);
    if (!sum)
        abort(); /* so that it is reckoned at all */
    printf("%.1f\n", (double)(cpu_ns() - begun_ns) / (double)n);
}

int main(int argc, char **argv)
{
    long n = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    long repeats = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    struct cron *rules;

    if (n < 1 || repeats < 1) {
        fprintf(stderr, "usage: cron RULES REPEATS\n");
        return 2;
    }
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    time_zone_read();
    rules = xalloc((size_t)n * sizeof(*rules));
    for (long i = 0; i < n; i++)
        make_rule(i, &rules[i]);
    for (long i = 0; i < repeats; i++)
        measure(rules, n);
    free(rules);
    return 0;
}
