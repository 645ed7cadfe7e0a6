/* SPDX-License-Identifier: MIT */
/* fleet_lines.h - a socket that is spoken to in lines. */
#ifndef SIM_FLEET_LINES_H
#define SIM_FLEET_LINES_H

#include "base/err.h"
#include "base/loop.h"

struct fleet_lines;

struct fleet_lines_owner {
    void (*on_line)(void *arg, const char *line, size_t n); /* without its end, with a NUL */
    void (*on_end)(void *arg); /* the peer is gone; only fleet_lines_free() is left */
};

/* Takes the socket over, unless it fails; the owner's table is not copied.  Callbacks come
 * from the loop only, and may free it. */
int fleet_lines_new(struct loop *loop, int fd, const struct fleet_lines_owner *owner, void *arg,
                    struct fleet_lines **ret, struct err *err);
void fleet_lines_free(struct fleet_lines *l); /* NULL is fine */

void fleet_lines_send(struct fleet_lines *l, const char *bytes, size_t n); /* whole lines */

#endif
