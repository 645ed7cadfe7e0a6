/* SPDX-License-Identifier: MIT */
/* local_link.h - a connection to the agent of this host: sends one request and receives frames
 * one at a time, with a time limit. */
#ifndef CLI_LOCAL_LINK_H
#define CLI_LOCAL_LINK_H

#include "cli/cli.h"

struct local_link {
    struct cli *cli;
    int fd;
    struct buf in;
    size_t used;         /* bytes of `in` that the last returned frame takes */
    struct arena *arena; /* for received messages */
};

/* Connects and sends the request.  On failure there is nothing to close. */
int local_link_open(struct cli *cli, struct arena *a, unsigned type, const struct shape *s,
                    const void *question, struct local_link *ret, struct err *err);
void local_link_close(struct local_link *l);

enum local_came { LOCAL_FAILED = -1, LOCAL_CAME, LOCAL_LATE, LOCAL_INTERRUPTED };

/* The next message, of one of the types of link/local.h; its texts are in the arena.  A refusal
 * is a failure.  `until_ms` is monotonic time; INT64_MAX: no limit. */
enum local_came local_link_next(struct local_link *l, int64_t until_ms, unsigned *ret_type,
                                const void **ret_message, struct err *err);

/* Sets err and the exit status for a refusal of the agent; returns -1. */
int local_refused(struct cli *cli, int code, const char *text, struct err *err);

#endif
