/* SPDX-License-Identifier: MIT */
#include "bench/loopback.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void loopback_begin(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* the driver has counted what there is */
    }
    signal(SIGPIPE, SIG_IGN);
    alarm(LOOPBACK_LIFE_S);
}

void loopback_die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    exit(1);
}

void loopback_make_answer(char to[LOOPBACK_ANSWER_MAX], size_t n)
{
    static const char body[] = LOOPBACK_ANSWER, blank[] = "\r\n\r\n";
    size_t body_n = strlen(body), blank_n = strlen(blank);
    size_t head_n = (size_t)snprintf(to, LOOPBACK_ANSWER_MAX,
                                     "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nX-Fill: ", body_n);

    if (n < head_n + blank_n + body_n || n > LOOPBACK_ANSWER_MAX)
        loopback_die("ANSWER_BYTES", "too few or too many");
    memset(to + head_n, 'x', n - head_n);
    memcpy(to + n - body_n - blank_n, blank, blank_n);
    memcpy(to + n - body_n, body, body_n);
}

void loopback_ready(unsigned port)
{
    printf("port %u\n", port);
    fflush(stdout);
}
