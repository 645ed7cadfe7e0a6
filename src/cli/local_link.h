/* SPDX-License-Identifier: MIT */
/* local_link.h - one connection to the agent of this host: a question goes out, frames
 * come in, one at a time.  It waits, but not for ever. */
#ifndef CLI_LOCAL_LINK_H
#define CLI_LOCAL_LINK_H

#include "cli/cli.h"

struct local_link {
    struct cli *cli;
    int fd;
    struct buf in;
    size_t used;         /* of it, by the frame that was handed out last */
    struct arena *arena; /* of what comes */
};

/* Connects and asks.  On failure there is nothing to close. */
int local_link_open(struct cli *cli, struct arena *a, unsigned type, const struct shape *s,
                    const void *question, struct local_link *ret, struct err *err);
void local_link_close(struct local_link *l);

enum local_came { LOCAL_FAILED = -1, LOCAL_CAME, LOCAL_LATE, LOCAL_INTERRUPTED };

/* The next message, of one of the types of link/local.h; its texts are in the arena.  A
 * refusal is a failure.  `until_ms` of the monotonic clock; INT64_MAX: no limit. */
enum local_came local_link_next(struct local_link *l, int64_t until_ms, unsigned *ret_type,
                                const void **ret_message, struct err *err);

#endif
