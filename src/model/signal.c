/* SPDX-License-Identifier: MIT */
/* signal.c - see signal.h. */
#include "model/signal.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <strings.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, SIG##name                                                                           \
    }

/* clang-format off */
static const struct {
    const char *name;
    int number;
} rows[] = {
    ROW(HUP), ROW(INT), ROW(QUIT), ROW(ILL), ROW(TRAP), ROW(ABRT), { "IOT", SIGABRT }, ROW(BUS), ROW(FPE), ROW(KILL),
    ROW(USR1), ROW(SEGV), ROW(USR2), ROW(PIPE), ROW(ALRM), ROW(TERM), ROW(STKFLT), ROW(CHLD), ROW(CONT), ROW(STOP),
    ROW(TSTP), ROW(TTIN), ROW(TTOU), ROW(URG), ROW(XCPU), ROW(XFSZ), ROW(VTALRM), ROW(PROF), ROW(WINCH), ROW(IO),
    { "POLL", SIGIO }, ROW(PWR), ROW(SYS),
};
/* clang-format on */

/* Two digits at most; -1: it is no number. */
static int read_digits(const char *text)
{
    int n = 0, length = 0;

    for (; text[length]; length++) {
        if (length == 2 || text[length] < '0' || text[length] > '9')
            return -1;
        n = 10 * n + text[length] - '0';
    }
    return length ? n : -1;
}

/* "", "+3" after RTMIN and "-3" after RTMAX; -1: it is none of these. */
static int read_distance(const char *text, char sign)
{
    if (!*text)
        return 0;
    return *text == sign ? read_digits(text + 1) : -1;
}

static int real_time(const char *name)
{
    bool is_min = !strncasecmp(name, "RTMIN", 5);
    int distance, number;

    if (!is_min && strncasecmp(name, "RTMAX", 5) != 0)
        return 0;
    distance = read_distance(name + 5, is_min ? '+' : '-');
    number = is_min ? SIGRTMIN + distance : SIGRTMAX - distance;
    return distance >= 0 && number >= SIGRTMIN && number <= SIGRTMAX ? number : 0;
}

int signal_number(const char *name)
{
    int number = read_digits(name);

    if (number >= 0)
        return number <= SIGNAL_NUMBER_MAX ? number : 0;
    if (!strncasecmp(name, "SIG", 3))
        name += 3;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!strcasecmp(rows[i].name, name))
            return rows[i].number;
    }
    return real_time(name);
}

const char *signal_check(const char *name)
{
    return !*name || signal_number(name)
               ? NULL
               : MSG("must be the name of a signal, such as HUP, USR1 or RTMIN+1, or a number from "
                     "1 to 64");
}
