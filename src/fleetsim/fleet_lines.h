/* SPDX-License-Identifier: MIT */
/* fleet_lines.h - a socket with a protocol of lines. */
#ifndef FLEETSIM_FLEET_LINES_H
#define FLEETSIM_FLEET_LINES_H

#include "base/io/loop.h"
#include "base/text/err.h"

struct fleet_lines;

struct fleet_lines_owner {
    void (*on_line)(void *arg, const char *line, size_t n); /* without line end, with NUL */
    void (*on_end)(void *arg); /* the peer has closed; only fleet_lines_free() may be called */
};

/* Takes ownership of the socket unless it fails.  The owner's table is not copied.  Callbacks come
 * from the loop only and may free it. */
int fleet_lines_new(struct loop *loop, int fd, const struct fleet_lines_owner *owner, void *arg,
                    struct fleet_lines **ret, struct err *err);
void fleet_lines_free(struct fleet_lines *l); /* NULL is fine */

void fleet_lines_send(struct fleet_lines *l, const char *bytes, size_t n); /* whole lines */

#endif
